/** A long log: walked while it grows, and its old days dropped while it is written. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createEndpoint, listDeliveries, publish, wholeLog } from "./support/api.ts";
import { createTestDatabase } from "./support/postgres.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

/** Over more than a day, and so over a border of partitions. */
const WALKED = 20_000;

let service: TestService;

before(async () => {
  service = await startTestService();
});
after(() => service.stop());

const sql = (text: string, values: unknown[] = []) => service.database.pool.query(text, values);

describe("walking the log by `before`", () => {
  it("meets each delivery exactly once while new ones come", async () => {
    const { endpoint } = await createEndpoint(service, {
      url: service.receiver.url,
      events: ["document.signed"],
    });
    await sql(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
          request_headers, latency_ms)
        SELECT 'acme', $1, overlay(postern.lowest_id_at(now() - n * interval '5 seconds')::text
            PLACING '7' || right(gen_random_uuid()::text, 21) FROM 15)::uuid,
          gen_random_uuid(), 'document.signed', 'event', 'delivered', 1, '{}', 1
        FROM generate_series(1, $2::int) n`,
      [endpoint.id, WALKED],
    );
    const walked = new AbortController();
    const growing = (async () => {
      while (!walked.signal.aborted) {
        const events = Array.from({ length: 20 }, (_, n) => ({ type: "document.signed", data: { n } }));
        await service.call("POST", "/api/events", { as: PRODUCER, json: events });
      }
    })();
    await eventually(async () => (await listDeliveries(service, endpoint.id, "?limit=1"))[0]?.request_body);
    const walk = await wholeLog(service, endpoint.id);
    walked.abort();
    await growing;

    const ids = walk.map((row) => row.id);
    assert.equal(new Set(ids).size, ids.length, "no row twice");
    assert.deepEqual(ids, ids.toSorted().toReversed(), "newest first throughout");
    const { rows } = await sql(
      "SELECT id FROM postern.deliveries WHERE endpoint_id = $1 AND event_id NOT IN (SELECT id FROM postern.events)",
      [endpoint.id],
    );
    const seen = new Set<string>(ids);
    assert.equal(rows.length, WALKED);
    assert.deepEqual(
      rows.filter((row) => !seen.has(row.id)),
      [],
      "no row missed",
    );
  });
});

describe("retention", () => {
  it("drops days past it while deliveries are written, and keeps events that are still needed", async () => {
    const { endpoint } = await createEndpoint(service, {
      url: service.receiver.url,
      events: ["invoice.sent"],
    });
    await sql("SELECT postern.ensure_partitions(current_date - 60, current_date - 55)");
    await sql(
      `INSERT INTO postern.dispatches
          (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, held)
        VALUES ('acme', $1, postern.uuid_v7(), postern.lowest_id_at(now() - interval '57 days'), 'invoice.sent', 2,
          now(), now(), true)`,
      [endpoint.id],
    );
    const publishing = Promise.all(Array.from({ length: 50 }, () => publish(service, "invoice.sent")));
    const dropped: string[] = [];
    const drop = async () => {
      const { rows } = await sql("SELECT postern.drop_old_partitions(30) AS dropped");
      dropped.push(...rows.map((row) => String(row["dropped"])));
    };
    // Where traffic has the lock it drops nothing, and tries at the next call.
    await eventually(async () => {
      await drop();
      return dropped.length >= 11;
    });
    await publishing;
    await drop();
    assert.equal(dropped.filter((name) => name.startsWith("deliveries_")).length, 6);
    // The held dispatch's event of 57 days ago keeps its day, and no other.
    assert.equal(dropped.filter((name) => name.startsWith("events_")).length, 5);
    const { rows } = await sql(
      `SELECT c.relname = 'events_' || to_char(now() AT TIME ZONE 'UTC' - interval '57 days', 'YYYYMMDD') AS "isNeeded"
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'postern.events'::regclass AND c.relname ~ '_[0-9]{8}$' ORDER BY c.relname LIMIT 2`,
    );
    assert.deepEqual(rows, [{ isNeeded: true }, { isNeeded: false }]);
    await eventually(async () => {
      const { rowCount } = await sql(
        "SELECT FROM postern.deliveries WHERE endpoint_id = $1 AND status = 'delivered'",
        [endpoint.id],
      );
      return rowCount === 50;
    });
  });

  it("moves what the default partition holds of a day into that day's own, and deletes what is past it", async () => {
    const { endpoint } = await createEndpoint(service, {
      url: service.receiver.url,
      events: ["invoice.overdue"],
    });
    const insert = (age: string) =>
      sql(
        `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
            request_headers, latency_ms)
          VALUES ('acme', $1, postern.lowest_id_at(now() - $2::interval), gen_random_uuid(), 'invoice.overdue', 'event',
            'delivered', 1, '{}', 1)`,
        [endpoint.id, age],
      );
    await insert("20 days");
    await insert("100 days");
    await sql("SELECT postern.ensure_partitions(current_date - 21, current_date - 19)");
    const partitionsOf = async () => {
      const { rows } = await sql(
        "SELECT c.relname AS name FROM postern.deliveries d JOIN pg_class c ON c.oid = d.tableoid WHERE d.endpoint_id = $1 ORDER BY d.id",
        [endpoint.id],
      );
      return rows.map((row) => String(row["name"]).replace(/[0-9]{8}$/, "DAY"));
    };
    assert.deepEqual(await partitionsOf(), ["deliveries_default", "deliveries_DAY"]);
    await sql("SELECT postern.drop_old_partitions(30)");
    assert.deepEqual(await partitionsOf(), ["deliveries_DAY"]);
  });

  it("deletes events past it from the default partition, and keeps those that a dispatch needs", async () => {
    const { endpoint } = await createEndpoint(service, {
      url: service.receiver.url,
      events: ["invoice.paid"],
    });
    // Older than whatever the other tests' dispatches need.
    await sql("DELETE FROM postern.dispatches WHERE held");
    await sql(
      `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
        SELECT 'acme', postern.lowest_id_at(now() - n * interval '1 day'), 'invoice.paid', '{}', 1
        FROM unnest('{200, 151, 150, 149, 40, 34}'::int[]) n`,
    );
    await sql(
      `INSERT INTO postern.dispatches
          (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, held)
        SELECT tenant_id, $1, postern.uuid_v7(), id, type, 1, now(), now(), true FROM postern.events_default
        ORDER BY id OFFSET 2 LIMIT 1`,
      [endpoint.id],
    );
    const agesLeft = async () => {
      const { rows } = await sql(
        `SELECT n FROM generate_series(1, 300) n JOIN postern.events_default e
            ON e.id >= postern.lowest_id_at(now() - n * interval '1 day')
            AND e.id < postern.lowest_id_at(now() - (n - 1) * interval '1 day')
          ORDER BY n`,
      );
      return rows.map((row) => row["n"]);
    };
    await sql("SELECT postern.drop_old_partitions(30)");
    assert.equal((await agesLeft()).length, 4, "the needed event of 150 days ago and what came after it");
    await sql("DELETE FROM postern.dispatches WHERE held");
    await sql("SELECT postern.drop_old_partitions(30)");
    assert.equal((await agesLeft()).length, 1, "younger than the log by five days");
  });

  it("keeps the day of an event that waits in the outbox, which no worker may have emptied for long", async (test) => {
    // Without a worker.
    const database = await createTestDatabase();
    test.after(() => database.drop());
    const sql = (text: string) => database.pool.query(text);
    await sql("SELECT postern.ensure_partitions(current_date - 70, current_date - 67)");
    await sql(
      `INSERT INTO postern.outbox (id, tenant_id, type, body)
        VALUES (postern.lowest_id_at((current_date - 68)::timestamp AT TIME ZONE 'UTC'), 'acme', 'unknown', '{}')`,
    );
    const left = async () => {
      for (;;) {
        const { rowCount } = await sql("SELECT postern.drop_old_partitions(30)");
        if (rowCount === 0) break;
      }
      const { rows } = await sql(
        `SELECT (current_date - to_date(right(relname, 8), 'YYYYMMDD'))::int AS age FROM pg_class
          WHERE relname ~ '^events_[0-9]{8}$' AND relname < 'events_' || to_char(current_date - 60, 'YYYYMMDD')
          ORDER BY 1 DESC`,
      );
      return rows.map((row) => row["age"]);
    };
    assert.deepEqual(await left(), [68]);
    await sql("DELETE FROM postern.outbox");
    assert.deepEqual(await left(), []);
  });

  it("tries once beside somebody who reads the log for long, for traffic waits behind each try", async (test) => {
    const database = await createTestDatabase();
    test.after(() => database.drop());
    await database.pool.query("SELECT postern.ensure_partitions(current_date - 120, current_date - 41)");
    const reader = await database.pool.connect();
    await reader.query("BEGIN");
    await reader.query("SELECT count(*) FROM postern.deliveries");
    const upkeep = await database.pool.connect();
    // A try for each of the 80 days would take 16 seconds.
    await upkeep.query("SET statement_timeout = '8s'");
    try {
      const { rows } = await upkeep.query("SELECT postern.drop_old_partitions(30) AS dropped");
      assert.match(rows.map((row) => String(row["dropped"])).join(), /^events_[0-9]{8}$/);
    } finally {
      upkeep.release(true);
      reader.release(true);
    }
  });
});
