import { useBlocker } from "@tanstack/react-router";

/** Keeps the page while it makes or shows a secret, which nobody sees once it is left. */
export function useStayWhile(isUnseen: boolean): void {
  useBlocker({ shouldBlockFn: () => isUnseen, enableBeforeUnload: isUnseen });
}
