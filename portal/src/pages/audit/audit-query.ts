/** What the API is asked for the audit log. */
import { RANGE_MS } from "../../url/range.ts";
import { ACTIONS } from "./action-texts.ts";
import type { AuditSearch } from "./audit-search.ts";

/** A range goes up to now, whatever end an edited link names. */
export function queryOf({ action, endpoint, range, from, to }: AuditSearch, nowMs: number) {
  const known = ACTIONS.find((one) => one === action);
  const begin = range === undefined ? from : new Date(nowMs - RANGE_MS[range]).toISOString();
  return {
    limit: 50,
    ...(known !== undefined && { action: known }),
    ...(endpoint !== undefined && { endpoint_id: endpoint }),
    ...(begin !== undefined && { from: begin }),
    ...(to !== undefined && range === undefined && { to }),
  };
}
