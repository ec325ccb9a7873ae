/** A day that has no partition while its events and deliveries come: they gather in the default partition. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { PoolClient } from "pg";
import { makePartitionsAhead } from "../src/queue/postgres/partitions.ts";
import { attachStaged, copyStagedRows, stagePartitions } from "../src/queue/postgres/partition-store.ts";
import { createEndpoint, listDeliveries } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const ROWS = 20_000;
const log = { info: () => undefined, warn: () => undefined };
const { signal } = new AbortController();

let receiver: TlsReceiver;
let database: TestDatabase;
/** Without a worker, whose upkeep would make the partitions. */
let service: TestService;

before(async () => {
  receiver = await startReceiver();
  database = await createTestDatabase();
  service = await startTestService({ database, receiver, roles: ["api"] });
});
after(async () => {
  await service.stop();
  await receiver.close();
  await database.drop();
});

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);

/** Yesterday's partitions are there and today's are not, and many of today's rows are in the default ones. */
async function loseToday(rows: number): Promise<void> {
  for (const parent of ["events", "deliveries"]) {
    const { rows: days } = await sql(
      `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = ('postern.' || $1)::regclass
          AND c.relname >= $1 || to_char(now() AT TIME ZONE 'UTC', '_YYYYMMDD') AND c.relname ~ '[0-9]$'`,
      [parent],
    );
    for (const { name } of days) await sql(`DROP TABLE postern.${name}`);
  }
  const id = `overlay(postern.lowest_id_at(now() - n * interval '1 ms')::text
    PLACING '7' || right(gen_random_uuid()::text, 21) FROM 15)::uuid`;
  await sql(
    `INSERT INTO postern.events SELECT 'acme', ${id}, 'invoice.paid', '{}', 0 FROM generate_series(1, $1::int) n`,
    [rows],
  );
  await sql(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_headers, latency_ms)
      SELECT 'acme', md5('e' || n % 3)::uuid, ${id}, gen_random_uuid(), 'invoice.paid', 'event', 'delivered', 1, '{}', 1
      FROM generate_series(1, $1::int) n`,
    [rows],
  );
}

async function counts(): Promise<unknown> {
  const { rows } = await sql(`SELECT
    (SELECT count(*)::int FROM postern.events) AS events,
    (SELECT count(*)::int FROM postern.deliveries) AS deliveries,
    (SELECT count(DISTINCT id)::int FROM postern.events) AS "distinctEvents",
    (SELECT count(*)::int FROM postern.events_default) AS "eventsDefault",
    (SELECT count(*)::int FROM postern.deliveries_default) AS "deliveriesDefault"`);
  return rows[0];
}

/** Every partition's name without its day, and what is left of a move. */
async function leftovers(): Promise<string[]> {
  const { rows } = await sql(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'postern'::regnamespace AND relkind = 'r'
      AND relname ~ 'staged|moved'`,
  );
  return rows.map(({ name }) => String(name));
}

/** Publishes one event after the other until it is told to stop; answers how each was answered. */
function keepPublishing() {
  const over = new AbortController();
  const statuses: number[] = [];
  const publishing = (async () => {
    while (!over.signal.aborted) {
      const answer = await service.call("POST", "/api/events", {
        as: PRODUCER,
        json: { type: "invoice.paid", data: {} },
      });
      statuses.push(answer.status);
    }
  })();
  return async () => {
    over.abort();
    await publishing;
    return statuses;
  };
}

describe("a day without a partition", () => {
  it("gets one while events are published, whatever the default partition holds of it", async () => {
    await sql("TRUNCATE postern.events, postern.deliveries, postern.dispatches");
    await loseToday(ROWS);
    const stop = keepPublishing();
    await makePartitionsAhead(database.pool, { log, signal });
    const statuses = await stop();
    assert.deepEqual([...new Set(statuses)], [202]);
    assert.deepEqual(await counts(), {
      events: ROWS + statuses.length,
      distinctEvents: ROWS + statuses.length,
      deliveries: ROWS,
      eventsDefault: 0,
      deliveriesDefault: 0,
    });
    assert.deepEqual(await leftovers(), []);
    const { rows } = await sql(
      "SELECT postern.ensure_partitions(current_date - 1, current_date + 7) AS made",
    );
    assert.deepEqual(rows, [{ made: 0 }]);
  });

  it("keeps what is added between the steps of a move, and rows of other days", async () => {
    await sql("TRUNCATE postern.events, postern.deliveries, postern.dispatches");
    await loseToday(ROWS);
    const add = (age: string) =>
      sql(
        `INSERT INTO postern.events SELECT 'acme', postern.lowest_id_at(now() - $1::interval), 'invoice.paid', '{}', 0`,
        [age],
      );
    await add("100 days");
    const range = { from: -1, to: 0 };
    const pages = await stagePartitions(database.pool, "events", range);
    assert.ok(pages !== null && pages > 100);
    await add("1 s");
    await add("101 days");
    await copyStagedRows(database.pool, "events", { from: 0, to: 10 });
    // A process that died here is followed by another.
    assert.equal(await stagePartitions(database.pool, "events", range), pages);
    await copyStagedRows(database.pool, "events", { from: 0, to: pages });
    await add("2 s");
    await attachStaged(database.pool, "events");
    await attachStaged(database.pool, "events");
    await add("3 s");
    await makePartitionsAhead(database.pool, { log, signal });
    assert.deepEqual(await counts(), {
      events: ROWS + 5,
      distinctEvents: ROWS + 5,
      deliveries: ROWS,
      eventsDefault: 2,
      deliveriesDefault: 0,
    });
    assert.deepEqual(await leftovers(), []);
  });

  it("waits for a transaction that added rows, and keeps nobody else waiting with it", async () => {
    await sql("TRUNCATE postern.events, postern.deliveries, postern.dispatches");
    await loseToday(10);
    const holder: PoolClient = await database.pool.connect();
    await holder.query("BEGIN");
    await holder.query(
      "INSERT INTO postern.events SELECT 'acme', postern.uuid_v7(), 'invoice.paid', '{}', 0",
    );
    const warned = Promise.withResolvers<void>();
    const making = makePartitionsAhead(database.pool, {
      log: { ...log, warn: () => warned.resolve() },
      signal,
    });
    await warned.promise;
    const stop = keepPublishing();
    await eventually(async () => ((await sql("SELECT FROM postern.events")).rowCount ?? 0) > 30);
    await holder.query("COMMIT");
    holder.release();
    await making;
    const statuses = await stop();
    assert.deepEqual([...new Set(statuses)], [202]);
    const { rows } = await sql("SELECT count(*)::int AS n FROM postern.events_default");
    assert.deepEqual(rows, [{ n: 0 }]);
  });
});

describe("a publish that meets a lock", () => {
  it("is answered 503 with Retry-After when the lock lasts, never 500", async () => {
    const holder: PoolClient = await database.pool.connect();
    await holder.query("BEGIN; LOCK TABLE postern.events IN ACCESS EXCLUSIVE MODE");
    const answer = await service.call("POST", "/api/events", {
      as: PRODUCER,
      json: { type: "invoice.paid", data: {} },
    });
    holder.release(true);
    assert.equal(answer.status, 503, answer.text);
    assert.ok(Number(answer.headers.get("retry-after")) > 0);
  });
});

describe("a worker", () => {
  it("makes the partitions that are missing at its start, and delivers meanwhile", async () => {
    await sql("TRUNCATE postern.events, postern.deliveries, postern.dispatches");
    await loseToday(2000);
    const worker = await startTestService({ database, receiver, env: service.env });
    try {
      const { endpoint } = await createEndpoint(worker, { url: receiver.url, events: ["invoice.paid"] });
      const stop = keepPublishing();
      await eventually(async () => {
        const { rows } = await sql(
          "SELECT to_regclass('postern.deliveries' || to_char(now() AT TIME ZONE 'UTC', '_YYYYMMDD')) AS name",
        );
        return rows[0]?.name !== null;
      });
      const statuses = await stop();
      await eventually(async () => {
        const delivered = await listDeliveries(worker, endpoint.id, "?limit=1&status=delivered");
        const { rows } = await sql("SELECT count(*)::int AS n FROM postern.dispatches");
        return delivered.length > 0 && rows[0]?.n === 0;
      });
      const { rows } = await sql("SELECT count(*)::int AS n FROM postern.deliveries WHERE endpoint_id = $1", [
        endpoint.id,
      ]);
      assert.ok(rows[0].n <= statuses.length && rows[0].n > 0);
      assert.deepEqual([...new Set(statuses)], [202]);
    } finally {
      await worker.stop();
    }
  });
});
