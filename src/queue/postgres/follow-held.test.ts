/** Dispatches that are added as held while their endpoint stops to be pull: followed too, whenever they are committed. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { PoolClient } from "pg";
import { eventually } from "../../../test/support/eventually.ts";
import { pidOf } from "../../../test/support/lock-waits.ts";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { inTransaction } from "../../database/transaction.ts";
import { followAll, followFirst } from "./follow.ts";

const OTHER = "ffffffff-0000-7000-8000-000000000001";

const seeded = seededDatabase();
const { sql } = seeded;

beforeEach(async () => {
  await seeded.seedAnew();
  await sql("DELETE FROM postern.dispatches");
  await sql("UPDATE postern.endpoints SET unsettled = false, mode = 'pull'");
  await sql(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at, mode)
      VALUES ($1, $2, 'https://example.com/', '{*}', '\\x0102030405060708', now(), now(), 'pull')`,
    seeded.acme.tenantId,
    OTHER,
  );
});

/** As an event is accepted, up to its commit. */
async function addHeld(endpoint: string): Promise<PoolClient> {
  const client = await seeded.pool.connect();
  await client.query("BEGIN");
  await client.query(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, held)
      SELECT $1, $2::uuid, postern.uuid_v7(), gen_random_uuid(), 'a', 1, now(), now(), postern.still_held($1, $2::uuid)`,
    [seeded.acme.tenantId, endpoint],
  );
  return client;
}

async function commit(client: PoolClient): Promise<void> {
  await client.query("COMMIT");
  client.release();
}

const becomePush = () =>
  sql("UPDATE postern.endpoints SET unsettled = true, mode = 'push' WHERE id = $1", seeded.acme.endpointId);

const follow = () => followAll(seeded.pool, new AbortController().signal);

async function left() {
  const [found] = await sql(
    `SELECT (SELECT count(*)::int FROM postern.endpoints WHERE unsettled) AS unsettled,
      (SELECT count(*)::int FROM postern.dispatches WHERE held AND endpoint_id = $1) AS held`,
    seeded.acme.endpointId,
  );
  return found;
}

describe("an endpoint that is push again", () => {
  it("is not settled while a dispatch is being added as held, and then that is freed too", async () => {
    const adding = await addHeld(seeded.acme.endpointId);
    await becomePush();
    await follow();
    assert.deepEqual(await left(), { unsettled: 1, held: 0 });
    await commit(adding);
    assert.deepEqual(await left(), { unsettled: 1, held: 1 });
    await follow();
    assert.deepEqual(await left(), { unsettled: 0, held: 0 });
  });

  it("is left to a worker by who changed it, and is locked by nobody, while one is being added for long", async () => {
    const adding = await addHeld(OTHER);
    await becomePush();
    await followFirst((work) => inTransaction(seeded.pool, work), seeded.acme);
    await sql("SELECT FROM postern.endpoints WHERE id = $1 FOR UPDATE NOWAIT", seeded.acme.endpointId);
    assert.deepEqual(await left(), { unsettled: 1, held: 0 });
    await commit(adding);
    await follow();
    assert.deepEqual(await left(), { unsettled: 0, held: 0 });
  });

  it("is waited for longer than a moment, or commits that take long would keep it from being settled", async () => {
    const adding = await addHeld(OTHER);
    const pid = await pidOf(adding);
    await becomePush();
    const following = follow();
    await eventually(async () => {
      const waiting = await sql(
        "SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid)) AND clock_timestamp() - query_start > interval '0.2 s'",
        pid,
      );
      return waiting.length === 1;
    });
    await commit(adding);
    await following;
    await follow();
    assert.deepEqual(await left(), { unsettled: 0, held: 0 });
  });

  it("is settled though some dispatch of its tenant is being added as held at every moment", async () => {
    await becomePush();
    const over = new AbortController();
    const adding = (async () => {
      let last = await addHeld(OTHER);
      while (!over.signal.aborted) {
        const next = await addHeld(OTHER);
        await commit(last);
        last = next;
      }
      await commit(last);
    })();
    await eventually(async () => {
      await follow();
      return (await left())?.["unsettled"] === 0;
    });
    over.abort();
    await adding;
  });
});
