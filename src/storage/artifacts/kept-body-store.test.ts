import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import type { Db } from "../../database/pool.ts";
import { inTransaction } from "../../database/transaction.ts";
import { newDeliveryId, newEndpointId, newEventId } from "../../shared/id.ts";
import type { BodiesToKeep } from "../../queue/queue.ts";
import {
  claimBodies,
  deleteBodiesOf,
  deleteBody,
  findBodyTenants,
  insertBodies,
  measureBodies,
  postponeBody,
  readRequestBody,
  type DeliveryOfBodies,
  type WaitingBody,
} from "./kept-body-store.ts";

const BOTH: BodiesToKeep = { requestBody: true, responseBody: Buffer.from("long"), days: 7 };
const LEASE_MS = 20_000;
const WAITING = { kind: "request_body", body: null, days: null, tries: 1, waitedS: 0 } as const;

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

/** Of every tenant. */
async function claim({ each = 10, db = database.pool }: { each?: number; db?: Db } = {}) {
  return claimBodies(db, await findBodyTenants(db), { each, leaseMs: LEASE_MS });
}
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
        assert.equal((await claim({ db: transaction })).length, 2);
      });
    }
  });

  it("are read as they were noted, with the number of the try", async () => {
    const { id: deliveryId, ...of } = delivery();
    await note({ id: deliveryId, ...of }, BOTH, 100);
    const [request, response] = (await claim()).sort(byKind);
    assert.ok(request !== undefined && response !== undefined);
    const { waitedS, ...claimed } = request;
    // When it was noted is rounded to a millisecond, up as often as down.
    assert.ok(waitedS >= 99.999 && waitedS < 1000);
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

  it("are claimed once, of the tenants whose turn it is, those due longest first", async () => {
    const requests = { ...BOTH, responseBody: null };
    const [first, second, third] = [delivery("acme"), delivery("globex"), delivery("acme")];
    await note(third, requests, 10);
    await note(first, requests, 30);
    await note(second, requests, 20);
    await note(delivery(), requests, -3600);
    await note(delivery("initech"), requests, -3600);
    const [acme, globex] = [tenant("acme"), tenant("globex")];
    assert.deepEqual(await findBodyTenants(database.pool), [acme, globex]);
    assert.deepEqual(
      (await claimBodies(database.pool, [acme], { each: 1, leaseMs: LEASE_MS })).map(
        ({ deliveryId }) => deliveryId,
      ),
      [first.id],
    );
    assert.deepEqual(
      new Set((await claim()).map(({ deliveryId }) => deliveryId)),
      new Set([second.id, third.id]),
    );
    assert.deepEqual(await findBodyTenants(database.pool), []);
    assert.deepEqual(await claimBodies(database.pool, [acme, globex], { each: 10, leaseMs: LEASE_MS }), []);
  });

  it("are claimed one by one, also those of one delivery and of two tenants with one id", async () => {
    const of = delivery();
    await note(of, BOTH, 20);
    await note({ ...of, tenantId: tenant("globex") }, BOTH, 20);
    for (const _ of [1, 2]) assert.equal((await claim({ each: 1 })).length, 2);
    assert.deepEqual(await claim(), []);
  });

  it("are passed over while another process is about to claim them", async () => {
    const requests = { ...BOTH, responseBody: null };
    const [one, other] = [delivery(), delivery()];
    await note(one, requests, 20);
    await note(other, requests, 10);
    await inTransaction(database.pool, async (first) => {
      const [taken] = await claim({ each: 1, db: first });
      assert.equal(taken?.deliveryId, one.id);
      await inTransaction(database.pool, async (second) => {
        const [next] = await claim({ each: 1, db: second });
        assert.equal(next?.deliveryId, other.id);
      });
    });
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

  it("are deleted and released by their tenant, delivery and kind alone", async () => {
    const of = delivery();
    await note(of, BOTH);
    await note({ ...of, tenantId: tenant("globex") }, BOTH);
    await note(delivery(), BOTH);
    const bodies = await claim();
    const body = bodies.find(({ tenantId, deliveryId }) => tenantId === of.tenantId && deliveryId === of.id);
    assert.ok(body !== undefined);
    await postponeBody(database.pool, body, -LEASE_MS);
    const { tenantId, deliveryId, kind } = body;
    assert.deepEqual(
      (await claim()).map((again) => [again.tenantId, again.deliveryId, again.kind]),
      [[tenantId, deliveryId, kind]],
    );
    await deleteBody(database.pool, body);
    const { rows } = await database.pool.query(
      `SELECT count(*)::int AS left, count(*) FILTER (WHERE (tenant_id, delivery_id, kind) = ($1, $2::uuid, $3))::int AS same
        FROM postern.bodies_to_keep`,
      [tenantId, deliveryId, kind],
    );
    assert.deepEqual(rows, [{ left: bodies.length - 1, same: 0 }]);
  });

  it("of requests are in the log, or with their tenant's own event", async () => {
    const of = delivery();
    const [globex, endpointId] = [tenant("globex"), newEndpointId()];
    const logged = [of, { ...of, tenantId: globex }, { ...of, endpointId }, { ...of, id: newDeliveryId() }];
    const eventId = newEventId();
    await database.pool.query(
      `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
        SELECT 'acme', id, 'invoice.paid', id::text, 1 FROM unnest($1::uuid[]) AS id`,
      [[newEventId(), eventId, newEventId()]],
    );
    for (const [place, { tenantId, id, ...row }] of logged.entries()) {
      await database.pool.query(
        `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
            request_headers, latency_ms, request_body)
          VALUES ($1, $2, $3, $4, 'invoice.paid', 'event', 'failed', 1, '{}', 1, $5)`,
        [tenantId, row.endpointId, id, eventId, `logged ${place}`],
      );
    }
    const read = async () => {
      const bodies = [];
      for (const { id: deliveryId, ...rest } of logged)
        bodies.push(await readRequestBody(database.pool, { ...WAITING, ...rest, deliveryId }));
      return bodies;
    };
    assert.deepEqual(await read(), ["logged 0", "logged 1", "logged 2", "logged 3"]);
    await database.pool.query("UPDATE postern.deliveries SET request_body = NULL");
    assert.deepEqual(await read(), [eventId, null, eventId, eventId]);
  });

  it("of one tenant are deleted together, whoever has them, and counted", async () => {
    await note(delivery("acme"), BOTH);
    assert.equal((await claim({ each: 1 })).length, 1);
    await note(delivery("acme"), { ...BOTH, responseBody: null });
    await note(delivery("globex"), BOTH);
    assert.equal(await deleteBodiesOf(database.pool, tenant("acme")), 3);
    assert.equal(await deleteBodiesOf(database.pool, tenant("acme")), 0);
    assert.deepEqual(await measureBodies(database.pool), [{ tenantId: "globex", count: 2, bytes: 4 }]);
  });

  it("are none, and no bytes, at first", async () => {
    assert.deepEqual(await measureBodies(database.pool), []);
  });
});
