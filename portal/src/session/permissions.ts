import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "../api/queries.ts";

/** What this session may do; false while that is not known yet. */
export function usePermissions(): { mayWrite: boolean; mayHold: boolean; isOwner: boolean } {
  const { data } = useQuery(sessionQuery);
  return {
    mayWrite: data?.permissions.includes("settings:write") === true,
    mayHold: data?.permissions.includes("storage:hold") === true,
    isOwner: data?.role === "owner",
  };
}
