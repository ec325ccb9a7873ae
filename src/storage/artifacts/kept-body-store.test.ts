import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { inTransaction } from "../../database/transaction.ts";
import { newDeliveryId, newEndpointId } from "../../shared/id.ts";
import type { BodiesToKeep } from "../../queue/queue.ts";
import {
  claimBodies,
  deleteBodiesOf,
  deleteBody,
  insertBodies,
  measureBodies,
  postponeBody,
  type DeliveryOfBodies,
  type WaitingBody,
} from "./kept-body-store.ts";

const BOTH: BodiesToKeep = { requestBody: true, responseBody: Buffer.from("long"), days: 7 };
const LEASE_MS = 20_000;

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(() => database.pool.query("DELETE FROM postern.bodies_to_keep"));
after(() => database.drop());

function delivery(name = "acme", attempt = 3): DeliveryOfBodies {
  return { tenantId: tenant(name), endpointId: newEndpointId(), id: newDeliveryId(), attempt };
}

/** As many seconds ago; what is due in the order of the seconds. */
async function note(of: DeliveryOfBodies, bodies: BodiesToKeep, agoS = 0): Promise<void> {
  await insertBodies(database.pool, of, bodies);
  await database.pool.query(
    `UPDATE postern.bodies_to_keep SET noted_at = now() - $2 * interval '1 s', due_at = now() - $2 * interval '1 s'
      WHERE delivery_id = $1`,
    [of.id, agoS],
  );
}

const claim = (limit = 10) => claimBodies(database.pool, limit, LEASE_MS);
const byKind = (one: WaitingBody, other: WaitingBody) => one.kind.localeCompare(other.kind);

async function leftKinds(): Promise<string[]> {
  const { rows } = await database.pool.query<{ kind: string }>(
    "SELECT kind FROM postern.bodies_to_keep ORDER BY kind",
  );
  return rows.map(({ kind }) => kind);
}

describe("bodies that wait", () => {
  it("could be claimed from the moment they were noted, however its fraction of a millisecond", async () => {
    for (let round = 0; round < 20; round++) {
      await inTransaction(database.pool, async (transaction) => {
        await insertBodies(transaction, delivery(), BOTH);
        assert.equal((await claimBodies(transaction, 10, LEASE_MS)).length, 2);
      });
    }
  });

  it("are read as they were noted, with the number of the try", async () => {
    const { id: deliveryId, ...of } = delivery();
    await note({ id: deliveryId, ...of }, BOTH, 100);
    const [request, response] = (await claim()).sort(byKind);
    assert.ok(request !== undefined && response !== undefined);
    const { waitedS, ...claimed } = request;
    assert.ok(waitedS >= 100 && waitedS < 1000);
    const common = { ...of, deliveryId, days: 7, tries: 1 };
    assert.deepEqual(claimed, { ...common, kind: "request_body", body: null });
    const { waitedS: _, ...other } = response;
    assert.deepEqual(other, { ...common, kind: "response_body", body: Buffer.from("long") });
  });

  it("are noted for each kind that is kept alone", async () => {
    await note(delivery(), { ...BOTH, responseBody: null });
    assert.deepEqual(await leftKinds(), ["request_body"]);
    await note(delivery(), { ...BOTH, requestBody: false });
    assert.deepEqual(await leftKinds(), ["request_body", "response_body"]);
    await note(delivery(), { requestBody: false, responseBody: null, days: null });
    assert.equal((await leftKinds()).length, 2);
  });

  it("are claimed once, of every tenant, those due longest first", async () => {
    const requests = { ...BOTH, responseBody: null };
    const [first, second, third] = [delivery("acme"), delivery("globex"), delivery("acme")];
    await note(third, requests, 10);
    await note(first, requests, 30);
    await note(second, requests, 20);
    await note(delivery(), requests, -3600);
    assert.deepEqual(
      new Set((await claim(2)).map(({ deliveryId }) => deliveryId)),
      new Set([first.id, second.id]),
    );
    assert.deepEqual(
      (await claim()).map(({ deliveryId }) => deliveryId),
      [third.id],
    );
    assert.deepEqual(await claim(), []);
  });

  it("are claimed again when the lease has ended, as the next try", async () => {
    await note(delivery(), { ...BOTH, responseBody: null });
    await claim();
    const { rows } = await database.pool.query(
      "SELECT extract(epoch FROM due_at - now())::float8 > 10 AS is_leased FROM postern.bodies_to_keep",
    );
    assert.deepEqual(rows, [{ is_leased: true }]);
    await database.pool.query("UPDATE postern.bodies_to_keep SET due_at = due_at - $1 * interval '1 ms'", [
      LEASE_MS + 1,
    ]);
    assert.deepEqual(
      (await claim()).map(({ tries }) => tries),
      [2],
    );
  });

  it("are deleted and released one by one", async () => {
    await note(delivery("acme"), BOTH);
    await note(delivery("globex"), BOTH);
    const [request, , response] = (await claim()).sort(byKind);
    assert.ok(request !== undefined && response !== undefined);
    await deleteBody(database.pool, request);
    assert.deepEqual(await leftKinds(), ["request_body", "response_body", "response_body"]);
    await postponeBody(database.pool, response, 0);
    // The database rounds to milliseconds, also up.
    const again = await eventually(async () => {
      const claimed = await claim();
      return claimed.length > 0 && claimed;
    });
    assert.deepEqual(again, [{ ...response, tries: 2, waitedS: again[0]?.waitedS }]);
    await postponeBody(database.pool, response, 3_600_000);
    assert.deepEqual(await claim(), []);
  });

  it("of one tenant are deleted together, and counted", async () => {
    await note(delivery("acme"), BOTH);
    await note(delivery("acme"), { ...BOTH, responseBody: null });
    await note(delivery("globex"), BOTH);
    assert.equal(await deleteBodiesOf(database.pool, tenant("acme")), 3);
    assert.equal(await deleteBodiesOf(database.pool, tenant("acme")), 0);
    assert.deepEqual(await measureBodies(database.pool), { count: 2, bytes: 4 });
  });

  it("are none, and no bytes, at first", async () => {
    assert.deepEqual(await measureBodies(database.pool), { count: 0, bytes: 0 });
  });
});
