/** What is kept of replays, and read back; who may change a running one is in test/run-fences.test.ts. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { Db } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import {
  newDeliveryId,
  newEndpointId,
  newEventId,
  newReplayId,
  type EventId,
  type ReplayId,
} from "../shared/id.ts";
import * as replays from "./replay-store.ts";

const ACME = tenant("acme");
const LEASE_MS = 60_000;
const [FROM, TO] = [new Date("2026-03-01T00:00:00.000Z"), new Date("2026-03-02T00:00:00.000Z")];

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  for (const table of ["replays", "deliveries", "dispatches"]) await sql(`DELETE FROM postern.${table}`);
});

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);

async function insert(name = "acme", endpointId = newEndpointId(), db: Db = database.pool) {
  const asked = {
    tenantId: tenant(name),
    id: newReplayId(),
    endpointId,
    from: FROM,
    to: TO,
    selection: "failed" as const,
    eventType: "invoice.*",
    cause: "http_500",
    counted: 12,
    isCapped: true,
  };
  await replays.insertReplay(db, { ...asked, before: BEFORE });
  return asked;
}
const BEFORE = newEventId();
/** Behind it, in their order. */
const EVENTS = [newEventId(), newEventId(), newEventId(), newEventId()] as const;

const RUNNING = {
  status: "running",
  error: null,
  sent: 0,
  skipped: 0,
  delivered: 0,
  failed: 0,
  finishedAt: null,
};

async function find(id: ReplayId, name = "acme") {
  const found = await replays.findReplay(database.pool, tenant(name), id);
  assert.ok(found !== null);
  return found;
}

/** As its tenant sees it, without the time of the database's clock. */
async function shown(id: ReplayId) {
  const { createdAt, ...rest } = await find(id);
  assert.ok(createdAt instanceof Date);
  return rest;
}

const list = async (before: ReplayId | null, limit: number) =>
  (await replays.listReplays(database.pool, ACME, { endpointId: null, before, limit })).map(({ id }) => id);

const running = (name = "acme") =>
  inTransaction(database.pool, (transaction) => replays.lockRunningReplays(transaction, tenant(name)));

async function claimed(): Promise<replays.Run> {
  await insert();
  const run = await replays.claimReplay(database.pool, randomUUID(), LEASE_MS);
  assert.ok(run !== null);
  return run;
}

const runOf = ({ id, endpointId }: { id: ReplayId; endpointId: replays.Run["endpointId"] }) => ({
  tenantId: ACME,
  id,
  endpointId,
  leaseOwner: randomUUID(),
});

async function attempt(
  replayId: string,
  eventId: EventId,
  status: "failed" | "delivered",
  of = "acme",
): Promise<void> {
  await sql(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_headers, latency_ms, replay_id)
      VALUES ($1, gen_random_uuid(), $2, $3, 'invoice.paid', 'retry', $4, 2, '{}', 1, $5)`,
    [of, newDeliveryId(), eventId, status, replayId],
  );
}

async function pend(replayId: string, eventId: EventId): Promise<void> {
  await sql(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at,
        once, parked, replay_id)
      VALUES ('acme', gen_random_uuid(), $1, $2, 'invoice.paid', 2, now(), now(), true, true, $3)`,
    [newDeliveryId(), eventId, replayId],
  );
}

describe("a replay that was asked for", () => {
  it("is found as it was asked for, by its tenant alone", async () => {
    const asked = await insert();
    assert.deepEqual(await shown(asked.id), { ...asked, ...RUNNING });
    assert.equal(await replays.findReplay(database.pool, tenant("globex"), asked.id), null);
    assert.equal(await replays.findReplay(database.pool, ACME, newReplayId()), null);
    const run = await replays.claimReplay(database.pool, randomUUID(), LEASE_MS);
    assert.ok(run !== null);
    const { createdAt: _, ...locked } = (await replays.lockRun(database.pool, run)) ?? {};
    const { delivered: _d, failed: _f, ...rest } = { ...asked, ...RUNNING };
    assert.deepEqual(locked, { ...rest, after: BEFORE, isFed: false });
  });

  it("is listed with its tenant's others, newest first, behind the last of a page", async () => {
    const ids: ReplayId[] = [];
    for (let n = 0; n < 3; n++) ids.unshift((await insert()).id);
    await insert("globex");
    assert.deepEqual(await list(null, 10), ids);
    assert.deepEqual(await list(null, 2), ids.slice(0, 2));
    assert.deepEqual(await list(ids[0] ?? null, 1), ids.slice(1, 2));
  });

  it("counts among the running until it is over, and for its tenant", async () => {
    const [first, second] = [await insert(), await insert()];
    await insert("globex");
    assert.deepEqual((await running()).toSorted(), [first.endpointId, second.endpointId]);
    await replays.cancelReplay(database.pool, ACME, first.id);
    assert.deepEqual(await running(), [second.endpointId]);
  });

  it("waits for another request of its tenant, and for none of another", async () => {
    const ended = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<number>();
    const first = inTransaction(database.pool, async (transaction) => {
      await replays.lockRunningReplays(transaction, ACME);
      locked.resolve(await pidOf(transaction));
      await ended.promise;
      await replays.insertReplay(transaction, {
        ...(await insert("globex")),
        tenantId: ACME,
        before: BEFORE,
      });
    });
    const pid = await locked.promise;
    assert.deepEqual(await running("globex"), []);
    const second = running("acme");
    await eventually(async () => (await waitersFor(database.pool, pid)) === 1);
    ended.resolve();
    await first;
    assert.equal((await second).length, 1);
  });
});

describe("a replay under way", () => {
  it("could be claimed from the moment it was asked for, however its fraction of a millisecond", async () => {
    for (let round = 0; round < 20; round++) {
      await inTransaction(database.pool, async (transaction) => {
        const { id } = await insert("acme", newEndpointId(), transaction);
        assert.equal((await replays.claimReplay(transaction, randomUUID(), LEASE_MS))?.id, id);
      });
    }
  });

  it("moves its cursor, and adds what it sent and skipped", async () => {
    const asked = await insert();
    const other = await insert();
    const run = runOf(asked);
    await replays.moveCursor(database.pool, run, { after: EVENTS[0], isFed: false, sent: 3, skipped: 1 });
    await replays.moveCursor(database.pool, run, { after: EVENTS[1], isFed: true, sent: 2, skipped: 5 });
    assert.deepEqual(await shown(asked.id), { ...asked, ...RUNNING, sent: 5, skipped: 6 });
    assert.deepEqual(await shown(other.id), { ...other, ...RUNNING });
    const claimed = await replays.claimReplay(database.pool, randomUUID(), LEASE_MS);
    const locked = claimed && (await replays.lockRun(database.pool, claimed));
    assert.deepEqual([locked?.after, locked?.isFed], [EVENTS[1], true]);
    await replays.subtractSent(database.pool, ACME, asked.id, 4);
    assert.deepEqual([(await find(asked.id)).sent, (await find(other.id)).sent], [1, 0]);
  });

  it("has the outcomes in the log of its own events, also those that are not counted for good", async () => {
    const { id } = await insert();
    await attempt(id, EVENTS[0], "delivered");
    await attempt(id, EVENTS[1], "failed");
    await attempt(id, EVENTS[2], "delivered");
    await attempt(newReplayId(), EVENTS[3], "delivered");
    await attempt(id, EVENTS[3], "delivered", "globex");
    const outcomes = async () => {
      const { delivered, failed } = await find(id);
      return [delivered, failed];
    };
    assert.deepEqual(await outcomes(), [2, 1]);
    await sql("UPDATE postern.replays SET delivered = 7, failed = 5, counted_to = $1", [EVENTS[1]]);
    assert.deepEqual(await outcomes(), [8, 5]);
  });

  it("counts for good up to its first event that is pending, each once", async () => {
    const asked = await insert();
    const { id } = asked;
    const other = await insert();
    const run = runOf(asked);
    const kept = async () =>
      (await sql("SELECT delivered, failed, counted_to FROM postern.replays WHERE id = $1", [id])).rows[0];
    await replays.moveCursor(database.pool, run, { after: EVENTS[3], isFed: true, sent: 4, skipped: 0 });
    await attempt(id, EVENTS[0], "delivered");
    await attempt(id, EVENTS[1], "failed");
    await attempt(id, EVENTS[3], "delivered");
    await attempt(other.id, EVENTS[0], "failed");
    await attempt(id, EVENTS[0], "failed", "globex");
    // To be made once more.
    await attempt(id, EVENTS[2], "failed");
    for (const event of EVENTS.slice(2)) await pend(id, event);
    await pend(other.id, EVENTS[1]);
    assert.equal(await replays.countOutcomes(database.pool, run), 2);
    const first = { delivered: 1, failed: 1, counted_to: EVENTS[1] };
    assert.deepEqual(await kept(), first);
    assert.equal(await replays.countOutcomes(database.pool, run), 2);
    assert.deepEqual(await kept(), first);
    await sql("DELETE FROM postern.dispatches WHERE replay_id = $1", [id]);
    assert.equal(await replays.countOutcomes(database.pool, run), 0);
    assert.deepEqual(await kept(), { delivered: 2, failed: 2, counted_to: EVENTS[3] });
    const { delivered, failed } = await find(id);
    assert.deepEqual([delivered, failed], [2, 2]);
    assert.deepEqual(await shown(other.id), { ...other, ...RUNNING, failed: 1 });
  });

  it("counts what was sent up to its cursor when nothing of it is pending", async () => {
    const asked = await insert();
    await attempt(asked.id, EVENTS[0], "delivered");
    assert.equal(await replays.countOutcomes(database.pool, runOf(asked)), 0);
    const { rows } = await sql("SELECT delivered, counted_to FROM postern.replays");
    assert.deepEqual(rows, [{ delivered: 1, counted_to: EVENTS[0] }]);
  });

  it("is kept from others as long as it was given back for", async () => {
    await insert();
    const run = await replays.claimReplay(database.pool, randomUUID(), LEASE_MS);
    assert.ok(run !== null);
    await replays.releaseReplay(database.pool, run, 500_000);
    assert.equal(await replays.claimReplay(database.pool, randomUUID(), LEASE_MS), null);
    const { rows } = await sql(
      `SELECT lease_owner, extract(epoch FROM lease_until - now())::float8 BETWEEN 400 AND 501 AS fits
        FROM postern.replays`,
    );
    assert.deepEqual(rows, [{ lease_owner: null, fits: true }]);
  });
});

/** The tenants of the replays that nobody has locked. */
const unlocked = async () =>
  (await sql("SELECT tenant_id FROM postern.replays ORDER BY 1 FOR UPDATE SKIP LOCKED")).rows.map(
    ({ tenant_id: name }) => name,
  );

describe("replays beside each other", () => {
  it("are left as they were by what is done to one, also where they share its id or its worker", async () => {
    const run = await claimed();
    for (const other of [{ tenant_id: "globex" }, { id: newReplayId(), endpoint_id: newEndpointId() }]) {
      await sql(
        `INSERT INTO postern.replays SELECT (twin).* FROM (
          SELECT jsonb_populate_record(r, $1) AS twin FROM postern.replays r
          WHERE (tenant_id, id) = ('acme', $2)) AS twins`,
        [other, run.id],
      );
    }
    const others = async () =>
      (await sql("SELECT * FROM postern.replays WHERE tenant_id <> 'acme' OR id <> $1 ORDER BY 1", [run.id]))
        .rows;
    const before = await others();
    await inTransaction(database.pool, async (transaction) => {
      await replays.lockRun(transaction, run);
      assert.deepEqual(await unlocked(), ["acme", "globex"]);
    });
    await attempt(run.id, EVENTS[0], "delivered");
    await replays.countOutcomes(database.pool, run);
    assert.equal((await find(run.id)).delivered, 1);
    await replays.moveCursor(database.pool, run, { after: EVENTS[1], isFed: true, sent: 3, skipped: 1 });
    await replays.subtractSent(database.pool, ACME, run.id, 1);
    await replays.releaseReplay(database.pool, run, 0);
    const again = await replays.claimReplay(database.pool, run.leaseOwner, LEASE_MS);
    assert.equal(again?.id, run.id);
    assert.equal(await replays.finishReplay(database.pool, run, null), true);
    assert.deepEqual(await others(), before);
  });
});

describe("a replay that is over", () => {
  it("is finished, or failed with the reason, once, and nobody has it any more", async () => {
    for (const error of [null, "endpoint_deleted"]) {
      const run = await claimed();
      assert.equal(await replays.finishReplay(database.pool, run, error), true);
      assert.equal(await replays.finishReplay(database.pool, run, "again"), false);
      const { status, error: told, finishedAt } = await find(run.id);
      assert.deepEqual([status, told], [error === null ? "finished" : "failed", error]);
      assert.ok(finishedAt instanceof Date);
      assert.equal(await replays.cancelReplay(database.pool, ACME, run.id), false);
      const { rows } = await sql("SELECT lease_owner FROM postern.replays WHERE id = $1", [run.id]);
      assert.deepEqual(rows, [{ lease_owner: null }]);
      await sql("UPDATE postern.replays SET lease_until = now() - interval '1 s'");
      assert.equal(await replays.claimReplay(database.pool, randomUUID(), LEASE_MS), null);
    }
  });

  it("is canceled by its tenant, once, and none other with it", async () => {
    const first = await claimed();
    const other = await insert();
    assert.equal(await replays.cancelReplay(database.pool, tenant("globex"), first.id), false);
    assert.equal(await replays.cancelReplay(database.pool, ACME, first.id), true);
    assert.equal(await replays.cancelReplay(database.pool, ACME, first.id), false);
    assert.equal(await replays.finishReplay(database.pool, first, null), false);
    const { status, finishedAt } = await find(first.id);
    assert.equal(status, "canceled");
    assert.ok(finishedAt instanceof Date);
    assert.equal((await find(other.id)).status, "running");
  });

  it("is forgotten with a thousand others at most, and a running one never", async () => {
    await sql(
      `INSERT INTO postern.replays (tenant_id, id, endpoint_id, from_at, to_at, selection, status, counted, is_capped,
          after_event_id, counted_to, created_at, finished_at)
        SELECT 'acme', gen_random_uuid(), gen_random_uuid(), now() - interval '1 h', now(), 'all',
          CASE WHEN n > 1 THEN 'finished' ELSE 'running' END, 0, false, gen_random_uuid(), gen_random_uuid(),
          now() - interval '5 days', CASE WHEN n > 1 THEN now() - interval '5 days' END
        FROM generate_series(1, 1002) n`,
    );
    assert.equal(await replays.forgetReplays(database.pool, 3), true);
    assert.equal(await replays.forgetReplays(database.pool, 3), false);
    assert.deepEqual((await sql("SELECT status FROM postern.replays")).rows, [{ status: "running" }]);
  });
});
