/** What the audit log's URL says. */
import { RANGES } from "../../url/range.ts";
import { instant, oneOf, text } from "../../url/search.ts";

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
