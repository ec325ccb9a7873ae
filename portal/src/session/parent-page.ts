/**
 * A frame's session, renewed by the page around it. The policy's
 * frame-ancestors says which pages may be around this one, so the parent itself
 * is the check of origin.
 *
 * `{type: "postern:session", state}` tells the parent: "open", "left" after a
 * person signed out, or "ended" when it should ask its backend for a new code.
 * The parent answers with `{type: "postern:code", code}`.
 */
import { openSession, sessionState, subscribeSession } from "./session.ts";

export function listenToParent(): void {
  if (window.parent === window) return;
  window.addEventListener("message", ({ source, data }: MessageEvent<unknown>) => {
    if (source !== window.parent) return;
    const { type, code } = Object(data);
    if (type === "postern:code" && typeof code === "string") void openSession(code);
  });
  subscribeSession(tell);
  tell();
}

function tell(): void {
  const { kind } = sessionState();
  if (kind === "opening") return;
  const state = kind === "open" || kind === "left" ? kind : "ended";
  // Nothing of the session itself, so that any parent may read it.
  window.parent.postMessage({ type: "postern:session", state }, "*");
}
