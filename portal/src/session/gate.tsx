import { useDeferredValue, useEffect, useRef, useSyncExternalStore, type ReactNode } from "react";
import { queryClient } from "../api/query-client.ts";
import { useTexts } from "../texts/texts.ts";
import { Button } from "../ui/button.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { openSession, sessionState, subscribeSession, type SessionState } from "./session.ts";
import { texts } from "./texts.ts";

export function useSessionState(): SessionState {
  return useSyncExternalStore(subscribeSession, sessionState);
}

/** Shows the portal to those with a session, and others what to do. */
export function Gate({ children }: { children: ReactNode }): ReactNode {
  const state = useShownState();
  const t = useTexts(texts);
  // Another session may see other data.
  const id = state.kind === "open" ? state.claims.id : null;
  useEffect(() => () => queryClient.clear(), [id]);
  switch (state.kind) {
    case "open":
      return children;
    case "opening":
      return (
        <Notice title={t.opening}>
          <Spinner />
        </Notice>
      );
    case "absent":
      return <Notice title={t.absentTitle}>{t.absent}</Notice>;
    case "unopened":
      return <Notice title={t.unopenedTitle}>{t.unopened}</Notice>;
    case "left":
      return <Notice title={t.leftTitle}>{t.left}</Notice>;
    case "unreachable":
      return (
        <Notice title={t.unreachableTitle}>
          <p>{t.unreachable}</p>
          <Button kind="primary" className="mt-5" onClick={() => void openSession(state.code)}>
            {t.tryAgain}
          </Button>
        </Notice>
      );
    default:
      return <Notice title={t.endedTitle}>{t.ended}</Notice>;
  }
}

/** A session's pages are made in small pieces, so that they don't hold the browser up. They go at once when it is over. */
function useShownState(): SessionState {
  const state = useSessionState();
  const shown = useDeferredValue(state);
  if (state.kind !== "open") return state;
  return shown.kind === "open" && shown.claims.id === state.claims.id ? state : { kind: "opening" };
}

function Notice({ title, children }: { title: string; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = title;
    heading.current?.focus();
  }, [title]);
  return (
    <main className="flex min-h-dvh items-center justify-center p-6">
      <div className="max-w-md rounded-xl border border-line bg-surface p-8 shadow-raised" role="status">
        <h1 ref={heading} tabIndex={-1} className="mb-2 text-xl font-semibold text-balance">
          {title}
        </h1>
        <div className="text-muted">{children}</div>
      </div>
    </main>
  );
}
