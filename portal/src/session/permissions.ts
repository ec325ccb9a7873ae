import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "../api/queries.ts";
import { useSessionState } from "./gate.tsx";

/** What this session may do; false while that is not known yet. */
export function usePermissions(): { mayWrite: boolean; mayHold: boolean; isOwner: boolean } {
  const state = useSessionState();
  const isTenants = state.kind === "open" && !state.claims.isOperator;
  const { data } = useQuery({ ...sessionQuery, enabled: isTenants });
  return {
    mayWrite: data?.permissions.includes("settings:write") === true,
    mayHold: data?.permissions.includes("storage:hold") === true,
    isOwner: data?.role === "owner",
  };
}
