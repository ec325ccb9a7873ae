/** What the audit log's address says. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { parseAuditSearch } from "../src/pages/audit/audit-search.ts";

it("is what the page filters by, and what does not fit is as if it were not there", () => {
  const search = {
    action: "endpoint.created",
    endpoint: "e1",
    range: "7d",
    from: "2026-11-01T08:00:30.000Z",
    to: "2026-11-02T08:00:30.000Z",
  };
  assert.deepEqual(parseAuditSearch({ ...search, other: "x" }), search);
  assert.deepEqual(parseAuditSearch({ range: "1h", from: "5", to: "soon", action: "", endpoint: 7 }), {
    action: undefined,
    endpoint: undefined,
    range: undefined,
    from: undefined,
    to: undefined,
  });
  assert.deepEqual(Object.keys(parseAuditSearch({})), []);
});
