import assert from "node:assert/strict";
import { it } from "node:test";
import { lastLeaseId, makeLeaseIds } from "./lease-ids.ts";

it("names each claim of a process by a UUID of its own, between the first of the process and the last", () => {
  const ids = makeLeaseIds();
  const named = Array.from({ length: 65_537 }, () => ids.next());
  assert.equal(new Set([ids.first, ...named]).size, 65_538);
  const all = [ids.first, ...named, lastLeaseId(ids.first)];
  assert.deepEqual(all.toSorted(), all);
  for (const id of [ids.first, ...named.slice(0, 2), lastLeaseId(ids.first)])
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  assert.ok(!makeLeaseIds().first.startsWith(ids.first.slice(0, 18)), "another process has others");
});
