import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tenant } from "../../test/support/two-tenants.ts";
import { newDeliveryId, newEndpointId } from "../shared/id.ts";
import { addSkipped, pick, keepWaiting, readAnnouncement, type Added, type Waiting } from "./tail-batch.ts";

const [one, two] = [newEndpointId(), newEndpointId()];
const added: Added[] = (["failed", "delivered", "delivered", "test"] as const).map((status, n) => ({
  endpointId: n === 2 ? two : one,
  id: newDeliveryId(),
  status,
}));
const none = { endpointId: null, status: null };

describe("pick", () => {
  it("takes the first that fit, and counts those beyond", () => {
    assert.deepEqual(pick(added, none, 3), { picked: added.slice(0, 3), skipped: 1 });
    assert.deepEqual(pick(added, none, 0), { picked: [], skipped: 4 });
    assert.deepEqual(pick(added, { ...none, endpointId: two }, 3), { picked: [added[2]], skipped: 0 });
    const delivered = pick(added, { endpointId: one, status: "delivered" }, 3);
    assert.deepEqual(delivered, { picked: [added[1]], skipped: 0 });
  });
});

describe("queue", () => {
  it("keeps as many as there is room for, in their order, and counts the rest", () => {
    const to: Waiting = { waiting: [], omitted: 0 };
    const tenantId = tenant("acme");
    keepWaiting(to, { tenantId, added: added.slice(0, 2), omitted: 5 }, 3);
    assert.deepEqual(to, { waiting: added.slice(0, 2), omitted: 5 });
    keepWaiting(to, { tenantId, added: added.slice(2), omitted: 1 }, 3);
    assert.deepEqual(to, { waiting: added.slice(0, 3), omitted: 7 });
    keepWaiting(to, { tenantId, added, omitted: 0 }, 3);
    assert.deepEqual(to, { waiting: added.slice(0, 3), omitted: 11 });
  });
});

describe("addSkipped", () => {
  it("knows no sum where one of the two is unknown", () => {
    assert.deepEqual([addSkipped(2, 3), addSkipped(0, 0)], [5, 0]);
    assert.deepEqual([addSkipped(null, 3), addSkipped(2, null), addSkipped(null, null)], [null, null, null]);
  });
});

describe("readAnnouncement", () => {
  it("reads what the log's trigger writes, and nothing else", () => {
    const row = added[0];
    assert.ok(row !== undefined);
    const text = JSON.stringify({
      tenant: "acme",
      omitted: 3,
      added: [
        `${row.endpointId} ${row.id} failed`,
        "no row",
        `no-endpoint ${row.id} failed`,
        `${row.endpointId} no-delivery failed`,
        `${row.endpointId} ${row.id} pending`,
      ],
    });
    assert.deepEqual(readAnnouncement(text), { tenantId: "acme", omitted: 3, added: [row] });
    for (const other of [
      "",
      "{}",
      '{"tenant":"a b","omitted":0,"added":[]}',
      '{"tenant":"acme","added":[]}',
    ]) {
      assert.equal(readAnnouncement(other), null);
    }
  });
});
