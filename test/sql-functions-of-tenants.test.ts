/**
 * What the functions of `migrations/functions` know of one tenant, and what they
 * do to it alone. Each test is a transaction that is rolled back, so its `now()`
 * stands still.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inTransaction } from "../src/database/transaction.ts";
import { eventually } from "./support/eventually.ts";
import { pidOf, waitersFor } from "./support/lock-waits.ts";
import { functionTests } from "./support/sql-functions.ts";

const NIL = "00000000-0000-0000-0000-000000000000";

const t = functionTests();

/** An insert of one row for each table that makes a tenant, $1, a resident. */
const RESIDENT = {
  endpoints: `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
    VALUES ($1, gen_random_uuid(), 'https://receiver.test', '{}', '', now(), now())`,
  tenant_settings: "INSERT INTO postern.tenant_settings (tenant_id) VALUES ($1)",
  delivery_stats: `INSERT INTO postern.delivery_stats
    VALUES ($1, gen_random_uuid(), 60, now(), '', 1, 1, 1, 1, gen_random_uuid(), gen_random_uuid())`,
  stored_objects: `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket,
      key, size, sha256, content_type, state, state_since)
    VALUES ($1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, 'export', 'bucket', gen_random_uuid(), 0, '', '',
      'pending', now())`,
  storage_exports: `INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at)
    VALUES ($1, gen_random_uuid(), 'max', now() - interval '1 h', now())`,
  audit_log: `INSERT INTO postern.audit_log (tenant_id, id, at, actor_type, action, outcome, details)
    VALUES ($1, gen_random_uuid(), now(), 'operator', 'endpoint.created', 'done', '{}')`,
  events: `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
    VALUES ($1, postern.uuid_v7(), 'a', '{}', 0)`,
};

const ERASURE = `INSERT INTO postern.tenant_erasures (tenant_id, status, finished_at)
  VALUES ($1, $2, CASE $2 WHEN 'running' THEN NULL ELSE now() END)`;

const livesHere = async () => [
  await t.value("SELECT postern.lives_here('acme')"),
  await t.value("SELECT postern.lives_here('globex')"),
];

describe("a tenant lives where it has", () => {
  for (const [table, insert] of Object.entries(RESIDENT)) {
    it(`a row of ${table}`, async () => {
      await t.rows(insert, ["acme"]);
      assert.deepEqual(await livesHere(), [true, false]);
    });
  }

  it("more than the trace of its erasure, or of a move", async () => {
    await t.rows(RESIDENT.audit_log.replace("endpoint.created", "tenant.erased"), ["acme"]);
    await t.rows(ERASURE, ["acme", "finished"]);
    await t.rows("INSERT INTO postern.shard_tenants (tenant_id, version) VALUES ('acme', 1)");
    assert.deepEqual(await livesHere(), [false, false]);
  });
});

it("a tenant is here in the version of its home, unless it is held up on its way", async () => {
  await t.rows(
    "INSERT INTO postern.shard_tenants (tenant_id, version, fenced) VALUES ('acme', 3, false), ('globex', 3, true)",
  );
  const codes = [];
  for (const [tenants, versions] of [
    ["{acme}", "{3}"],
    ["{acme}", "{2}"],
    ["{globex}", "{3}"],
    ["{initech}", "{3}"],
    ["{acme, initech}", "{3, 3}"],
  ])
    codes.push(await t.refusal("SELECT postern.require_here($1, $2)", [tenants, versions]));
  assert.deepEqual(codes, [null, "PS001", "PS001", "PS001", "PS001"]);
});

it("a key of a tenant that is held up on its way is found where it was claimed before, and not claimed", async () => {
  await t.rows("INSERT INTO postern.event_types (type) VALUES ('a')");
  const publish = () => t.value("SELECT postern.publish('acme', 'a', '{}', 'key')");
  const first = await publish();
  await t.rows("INSERT INTO postern.shard_tenants (tenant_id, version, fenced) VALUES ('acme', 1, true)");
  assert.equal(await publish(), first);
  await t.rows("DELETE FROM postern.idempotency_keys");
  assert.notEqual(await publish(), first);
  assert.deepEqual(await t.rows("SELECT FROM postern.idempotency_keys"), []);
});

/** A lock of those who follow a tenant's endpoints. */
const FOLLOWED = "hashtextextended('postern.held ' || $1, 0)";

/** Whether the tenant's dispatch waits for acme's endpoint, changed so. */
const waitsFor = async (change: string, asked = "acme") => {
  const id = await t.value(`${RESIDENT.endpoints} RETURNING id`, ["acme"]);
  await t.rows(`UPDATE postern.endpoints SET ${change} WHERE id = $1`, [id]);
  return t.value("SELECT postern.still_held($1, $2)", [asked, id]);
};

describe("what is added for an endpoint", () => {
  it("waits where it is pull or its tenant is moving, and not where it was deleted or is another tenant's", async () => {
    const changes = ["url = url", "mode = 'pull'", "moving = true", "mode = 'pull', deleted_at = now()"];
    const answers = [];
    for (const change of changes) answers.push(await waitsFor(change));
    assert.deepEqual(answers, [false, true, true, false]);
    assert.equal(await waitsFor("mode = 'pull'", "globex"), false);
  });

  it("does not wait while the tenant's endpoints are followed, which others' don't keep it from, unless for a move", async () => {
    for (const [followed, change, waits] of [
      ["acme", "mode = 'pull'", false],
      // Or both shards would send it.
      ["acme", "moving = true", true],
      ["acme", "moving = true, deleted_at = now()", false],
      // Last, since it takes a lock of acme.
      ["globex", "mode = 'pull'", true],
    ] as const) {
      await inTransaction(t.pool, async (other) => {
        await other.query(`SELECT pg_advisory_xact_lock(${FOLLOWED})`, [followed]);
        assert.equal(await waitsFor(change), waits, `${followed} ${change}`);
      });
    }
  });

  it("keeps who would follow the tenant's endpoints waiting until it is committed, and nobody else", async () => {
    await waitsFor("mode = 'pull'");
    const locked = async (name: string) =>
      (await t.pool.query(`SELECT pg_try_advisory_xact_lock(${FOLLOWED}) AS locked`, [name])).rows[0].locked;
    assert.deepEqual([await locked("acme"), await locked("globex")], [false, true]);
    await t.rollBack();
    assert.equal(await locked("acme"), true);
  });
});

it("an event has 1 MiB with all versions together", async () => {
  await t.rows("INSERT INTO postern.event_types (type, others) VALUES ('a', '{2}')");
  const publish = `SELECT postern.publish_versions('acme', 'a', jsonb_build_object('1', given.data, '2', given.data))
    FROM (SELECT jsonb_build_object('text', repeat('x', $1)) AS data) AS given`;
  assert.deepEqual(
    [await t.refusal(publish, [500_000]), await t.refusal(publish, [530_000])],
    [null, "22023"],
  );
});

describe("the rows of a tenant", () => {
  it("are those of Postern's own tables, whoever else has tables in this database", async () => {
    await t.rows("CREATE TABLE public.orders (tenant_id text)");
    await t.rows("INSERT INTO public.orders VALUES ('acme')");
    await t.rows(ERASURE, ["acme", "running"]);
    assert.equal(await t.value("SELECT postern.erase_tenant_rows('acme', 10, true)::int"), 0);
    assert.deepEqual(await t.rows("SELECT name FROM postern.count_tenant_rows('acme', 10)"), []);
    assert.equal(await t.value("SELECT count(*)::int FROM public.orders"), 1);
  });

  it("are counted by table, in its order, up to a limit in each part of it", async () => {
    for (const insert of Object.values(RESIDENT)) {
      for (const tenant of ["acme", "acme", "acme", "globex"]) {
        await t.rows(`${insert} ON CONFLICT DO NOTHING`, [tenant]);
      }
    }
    const counts = await t.rows("SELECT name, count::int FROM postern.count_tenant_rows('acme', 2)");
    assert.deepEqual(
      counts,
      Object.keys(RESIDENT)
        .toSorted()
        .map((name) => ({ name, count: name === "tenant_settings" ? 1 : 2 })),
    );
  });

  it("are erased while its erasure runs, and not before or after it", async () => {
    const erase = "SELECT postern.erase_tenant_rows('acme', 10, true)";
    await t.rows(ERASURE, ["globex", "running"]);
    assert.equal(await t.refusal(erase), "22023");
    await t.rows(ERASURE, ["acme", "finished"]);
    assert.equal(await t.refusal(erase), "22023");
    await t.rows("UPDATE postern.tenant_erasures SET status = 'running', finished_at = NULL");
    assert.equal(await t.refusal(erase), null);
  });

  it("are erased without those of stored objects until their bytes are gone, and without leased hand-overs", async () => {
    await t.rows(ERASURE, ["acme", "running"]);
    for (const insert of [RESIDENT.stored_objects, RESIDENT.tenant_settings, RESIDENT.audit_log]) {
      for (const tenant of ["acme", "globex"]) await t.rows(insert, [tenant]);
    }
    await t.rows(
      `INSERT INTO postern.handovers (id, tenant_id, shard, type, version, body, lease_until)
        SELECT gen_random_uuid(), tenant, 'eu2', 'a', 1, '{}', now() + age
        FROM unnest('{acme, globex}'::text[]) tenant, unnest('{0, 1 ms}'::interval[]) age`,
    );
    const left = async () =>
      t.value(
        `SELECT json_object_agg(name, count) FROM (
          SELECT 'artifacts' AS name, count(*) FROM postern.stored_objects WHERE tenant_id = $1
          UNION ALL SELECT 'settings', count(*) FROM postern.tenant_settings WHERE tenant_id = $1
          UNION ALL SELECT 'audit', count(*) FROM postern.audit_log WHERE tenant_id = $1
          UNION ALL SELECT 'hand-overs', count(*) FROM postern.handovers WHERE tenant_id = $1) AS counts`,
        ["acme"],
      );
    assert.equal(await t.value("SELECT postern.erase_tenant_rows('acme', 10, false)::int"), 3);
    assert.deepEqual(await left(), { artifacts: 1, settings: 0, audit: 0, "hand-overs": 1 });
    assert.equal(await t.value("SELECT postern.erase_tenant_rows('acme', 10, true)::int"), 1);
    assert.deepEqual(await left(), { artifacts: 0, settings: 0, audit: 0, "hand-overs": 1 });
    const others = await t.rows("SELECT name, count::int FROM postern.count_tenant_rows('globex', 10)");
    assert.deepEqual(
      others.map(({ name, count }) => `${String(count)} ${String(name)}`),
      ["1 audit_log", "2 handovers", "1 stored_objects", "1 tenant_settings"],
    );
  });

  it("are erased with the dispatch that was being added as held, which nothing would end", async () => {
    await t.rows(ERASURE, ["acme", "running"]);
    const adding = await t.pool.connect();
    try {
      await adding.query("BEGIN");
      await adding.query(`SELECT pg_advisory_xact_lock_shared(${FOLLOWED})`, ["acme"]);
      const erased = t.value("SELECT postern.erase_tenant_rows('acme', 10, true)::int");
      const pid = await pidOf(adding);
      await eventually(async () => (await waitersFor(t.pool, pid)) === 1);
      await adding.query(
        `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, held)
          VALUES ('acme', '${NIL}', '${NIL}', '${NIL}', 'a', 1, now(), now(), true)`,
      );
      await adding.query("COMMIT");
      assert.equal(await erased, 1);
    } finally {
      adding.release(true);
      await t.rollBack();
      await t.pool.query("DELETE FROM postern.dispatches");
    }
  });

  it("are erased a part at a time, once its endpoints take no more work", async () => {
    await t.rows(ERASURE, ["acme", "running"]);
    await t.rows(
      `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, description, enabled, disabled_reason, created_at,
          updated_at, deleted_at)
        SELECT tenant, gen_random_uuid(), 'https://receiver.test', '{}', '', name, reason IS NULL, reason, now(), now(), deleted
        FROM unnest('{acme, globex}'::text[]) tenant,
          (VALUES ('one', NULL, NULL), ('gone', 'gone', NULL), ('deleted', 'failing', now() - interval '1 day'))
            AS given (name, reason, deleted)`,
    );
    assert.equal(await t.value("SELECT postern.erase_tenant_rows('acme', 0, true)::int"), 0);
    const endpoints = await t.rows(
      `SELECT tenant_id || ' ' || description AS name, enabled, disabled_reason AS reason,
          extract(day FROM now() - deleted_at)::int AS days FROM postern.endpoints ORDER BY 1`,
    );
    assert.deepEqual(endpoints, [
      { name: "acme deleted", enabled: false, reason: "failing", days: 1 },
      { name: "acme gone", enabled: false, reason: "gone", days: 0 },
      { name: "acme one", enabled: false, reason: "manual", days: 0 },
      { name: "globex deleted", enabled: false, reason: "failing", days: 1 },
      { name: "globex gone", enabled: false, reason: "gone", days: null },
      { name: "globex one", enabled: true, reason: null, days: null },
    ]);
    const erased = [];
    for (let round = 0; round < 3; round++)
      erased.push(await t.value("SELECT postern.erase_tenant_rows('acme', 2, true)::int"));
    assert.deepEqual(erased, [2, 1, 0]);
  });
});

describe("holds and erasures", () => {
  it("see what is held: the artifacts of this tenant that are not purged", async () => {
    await t.rows(
      `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key, size,
          sha256, content_type, state, state_since, hold)
        SELECT tenant, id::uuid, gen_random_uuid(), gen_random_uuid(), 1, 'export', 'bucket', id, 0, '', '', state, now(), hold
        FROM (VALUES ('acme', '3', 'expired', true), ('acme', '2', 'missing', true), ('acme', '1', 'purged', true),
          ('acme', '0', 'missing', false), ('globex', '4', 'missing', true)) AS given (tenant, last, state, hold),
          LATERAL (SELECT overlay('${NIL}' PLACING last FROM 36) AS id) AS ids`,
    );
    assert.deepEqual(await t.rows("SELECT held::int, first_held FROM postern.lock_holds('acme')"), [
      { held: 2, first_held: NIL.replace(/0$/, "2") },
    ]);
  });

  it("see whether the erasure of this tenant runs", async () => {
    await t.rows(ERASURE, ["acme", "running"]);
    await t.rows(ERASURE, ["globex", "finished"]);
    const erasing = [];
    for (const tenant of ["acme", "globex", "initech"])
      erasing.push(await t.value("SELECT postern.is_erasing($1)", [tenant]));
    assert.deepEqual(erasing, [true, false, false]);
  });
});

describe("counts that are folded", () => {
  it("name the first and the last attempt that they are of", async () => {
    const ids = [2, 1, 3].map((last) => NIL.replace(/0$/, String(last)));
    await t.rows(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
          request_headers, latency_ms)
        SELECT 'acme', '${NIL}', id, '${NIL}', 'a', 'event', 'delivered', 1, '{}', 1 FROM unnest($1::uuid[]) id`,
      [ids],
    );
    assert.deepEqual(await t.rows("SELECT first_id, last_id, count::int FROM postern.delivery_counts"), [
      { first_id: ids[1], last_id: ids[2], count: 3 },
    ]);
  });

  it("are added to the totals, though not those of a tenant that is being erased", async () => {
    await t.rows(ERASURE, ["acme", "running"]);
    await t.rows(ERASURE, ["globex", "finished"]);
    await t.rows(
      `INSERT INTO postern.delivery_counts
        SELECT tenant, '${NIL}', now(), '', 1, 1, 1, 1, gen_random_uuid(), gen_random_uuid()
        FROM unnest('{acme, globex, initech}'::text[]) tenant`,
    );
    await t.rows("DELETE FROM postern.delivery_counts");
    for (const table of ["delivery_totals", "newest_attempts"]) {
      assert.deepEqual(await t.names(`SELECT DISTINCT tenant_id AS name FROM postern.${table} ORDER BY 1`), [
        "globex",
        "initech",
      ]);
    }
  });

  it("name the newest attempt, however late an older one comes", async () => {
    const ids = [1, 3, 2].map((last) => NIL.replace(/0$/, String(last)));
    const newest = [];
    for (const id of ids) {
      await t.rows(
        `INSERT INTO postern.delivery_counts
          SELECT 'acme', '${NIL}', now(), cause, 1, 1, 1, 1, $1::uuid, $1::uuid FROM unnest('{timeout, ""}'::text[]) cause`,
        [id],
      );
      await t.rows("DELETE FROM postern.delivery_counts");
      newest.push(await t.names("SELECT id AS name FROM postern.newest_attempts ORDER BY has_failed"));
    }
    assert.deepEqual(newest, [
      [ids[0], ids[0]],
      [ids[1], ids[1]],
      [ids[1], ids[1]],
    ]);
  });
});

describe("the days of the log that go", () => {
  const LOGGED = `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
    request_headers, latency_ms)
    SELECT 'acme', '${NIL}', postern.lowest_id_at(((now() AT TIME ZONE 'UTC')::date - $1::int)::timestamp AT TIME ZONE 'UTC'),
      gen_random_uuid(), $1, 'event', 'delivered', 1, '{}', 1`;

  it("leave younger attempts of the default partition", async () => {
    for (const days of [20, 31, 32]) await t.rows(LOGGED, [days]);
    await t.rows("SELECT postern.drop_past_partitions(30)");
    assert.deepEqual(await t.names("SELECT event_type AS name FROM postern.deliveries ORDER BY 1"), [
      "20",
      "31",
    ]);
  });

  it("lock the default partitions in the order in which a day gets its own, or both would wait in a circle", async () => {
    await t.rows("CREATE TABLE postern.turns (place serial, name text)");
    await t.rows("GRANT ALL ON postern.turns, postern.turns_place_seq TO postern_owner");
    await t.rows(`CREATE FUNCTION postern.take_turn() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO postern.turns (name) VALUES (TG_TABLE_NAME); RETURN NULL; END'`);
    for (const table of ["events", "deliveries"]) {
      await t.rows(`CREATE TRIGGER take_turn BEFORE DELETE ON postern.${table}_default
        FOR EACH STATEMENT EXECUTE FUNCTION postern.take_turn()`);
    }
    await t.rows("SELECT postern.drop_past_partitions(30)");
    assert.deepEqual(await t.names("SELECT name FROM postern.turns ORDER BY place"), [
      "events_default",
      "deliveries_default",
    ]);
  });

  it("go the oldest first, one a call", async () => {
    await t.rows("SELECT postern.ensure_partitions(current_date - 43, current_date - 42)");
    const gone = [];
    for (let round = 0; round < 4; round++) {
      gone.push(...(await t.names("SELECT partition AS name FROM postern.drop_past_partitions(30)")));
    }
    assert.deepEqual(
      gone,
      gone.toSorted((one, other) => String(one).localeCompare(String(other))),
    );
    assert.equal(gone.length, 4);
  });

  it("stay where somebody reads them, who is named; whoever waits too is not", async (test) => {
    await t.pool.query("SELECT postern.ensure_partitions(current_date - 42, current_date - 42)");
    const [reader, waiter] = [await t.pool.connect(), await t.pool.connect()];
    test.after(() => {
      for (const client of [reader, waiter]) client.release();
    });
    await reader.query("BEGIN; SET LOCAL application_name = 'a long report'; SELECT FROM postern.deliveries");
    const waiting = waiter.query(
      "BEGIN; SET LOCAL lock_timeout = 0; LOCK TABLE postern.deliveries IN ACCESS EXCLUSIVE MODE; ROLLBACK",
    );
    await eventually(async () => (await waitersFor(t.pool, await pidOf(reader))) === 1);
    const days = await t.rows(
      "SELECT split_part(partition, '_', 1) AS of, holders FROM postern.drop_past_partitions(30)",
    );
    assert.deepEqual(days, [
      { of: "deliveries", holders: `process ${await pidOf(reader)} (a long report)` },
      { of: "events", holders: null },
    ]);
    await Promise.all([reader.query("ROLLBACK"), t.rollBack(), waiting]);
  });
});
