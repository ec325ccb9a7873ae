import { useSessionState } from "./gate.tsx";
import type { Session } from "./session.ts";

/** Of a tenant's user; null for an operator and without a session. */
export function useSession(): Session | null {
  const state = useSessionState();
  return state.kind === "open" ? state.token.session : null;
}

export function useIsOperator(): boolean {
  const state = useSessionState();
  return state.kind === "open" && state.claims.isOperator;
}

/** What this session may do. */
export function usePermissions(): { mayWrite: boolean; mayHold: boolean; isOwner: boolean } {
  const session = useSession();
  return {
    mayWrite: session?.permissions.includes("settings:write") === true,
    mayHold: session?.permissions.includes("storage:hold") === true,
    isOwner: session?.role === "owner",
  };
}

/** A draft's name, of this person at this tenant alone. */
export function useDraftName(name: string): string {
  const session = useSession();
  return `${session?.tenant} ${session?.sub} ${name}`;
}
