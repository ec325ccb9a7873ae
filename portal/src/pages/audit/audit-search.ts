/** What the audit log's URL says, and what is asked of the API for it. */
import { instant, oneOf, text } from "../../url/search.ts";
import { ACTIONS } from "./action-texts.ts";

const DAY_MS = 86_400_000;
const RANGE_MS = { "24h": DAY_MS, "7d": 7 * DAY_MS, "30d": 30 * DAY_MS } as const;
export const RANGES = ["24h", "7d", "30d"] as const;

export type AuditSearch = ReturnType<typeof parseAuditSearch>;

/** Without `range` and `from`: the whole year. */
export function parseAuditSearch(search: Record<string, unknown>) {
  return {
    ...text(search, "action"),
    ...text(search, "endpoint"),
    ...oneOf(search, "range", RANGES),
    ...instant(search, "from"),
    ...instant(search, "to"),
  };
}

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
