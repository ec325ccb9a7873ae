/** What the audit log's address says, and what is asked for it. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { loadModule } from "./support/page.ts";

const { parseAuditSearch } = await loadModule<{
  parseAuditSearch: (search: object) => object;
}>("pages/audit/audit-search.ts");
const { queryOf } = await loadModule<{
  queryOf: (search: object, nowMs: number) => object;
}>("pages/audit/audit-query.ts");

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

it("is what the service is asked for, and a range goes up to now", () => {
  const nowMs = Date.parse("2026-11-28T12:00:00.000Z");
  const [from, to] = ["2026-11-01T08:00:30.000Z", "2026-11-02T08:00:30.000Z"];
  assert.deepEqual(queryOf({}, nowMs), { limit: 50 });
  assert.deepEqual(queryOf({ action: "endpoint.created", endpoint: "e1", from, to }, nowMs), {
    limit: 50,
    action: "endpoint.created",
    endpoint_id: "e1",
    from,
    to,
  });
  assert.deepEqual(queryOf({ action: "endpoint.lost", to }, nowMs), { limit: 50, to });
  for (const [range, begin] of [
    ["24h", "2026-11-27T12:00:00.000Z"],
    ["7d", "2026-11-21T12:00:00.000Z"],
    ["30d", "2026-10-29T12:00:00.000Z"],
  ])
    assert.deepEqual(queryOf({ range, from, to }, nowMs), { limit: 50, from: begin });
});
