/**
 * What the functions of `migrations/functions` take, leave and refuse, on both
 * sides of each limit. Each test is a transaction that is rolled back, so its
 * `now()` stands still.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { functionTests } from "./support/sql-functions.ts";

const t = functionTests();

/** Tenants of the shard: one is held up on its way here, the others are in only one of its states. */
const ON_THE_WAY = `INSERT INTO postern.shard_tenants (tenant_id, version, moving, fenced)
  VALUES ('on-its-way', 1, true, true), ('moving', 1, true, false), ('fenced', 1, false, true)`;

const insertDeleted = (tenant: string, name: string, age: string | null, isUnsettled = false) =>
  t.value(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, description, enabled, disabled_reason,
        created_at, updated_at, deleted_at, unsettled)
      VALUES ($1, gen_random_uuid(), 'https://receiver.test', '{}', '', $2, false, 'manual', now(), now(),
        now() - $3::interval, $4)
      RETURNING id`,
    [tenant, name, age, isUnsettled],
  );
const logAttempt = (tenant: string, endpoint: unknown) =>
  t.rows(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_headers, latency_ms)
      VALUES ($1, $2, postern.uuid_v7(), gen_random_uuid(), 'a', 'event', 'delivered', 1, '{}', 1)`,
    [tenant, endpoint],
  );
const dispatchTo = (tenant: string, endpoint: unknown) =>
  t.rows(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      VALUES ($1, $2, postern.uuid_v7(), gen_random_uuid(), 'a', 1, now(), now())`,
    [tenant, endpoint],
  );
const sendByPerson = (tenant: string, endpoint: unknown) =>
  t.rows(
    `INSERT INTO postern.person_sends (tenant_id, endpoint_id, id, event_id, event_type, trigger, attempt,
        request_headers)
      VALUES ($1, $2, postern.uuid_v7(), gen_random_uuid(), 'a', 'retry', 2, '{}')`,
    [tenant, endpoint],
  );

describe("deleted endpoints", () => {
  it("go once they are older than the retention and nothing refers to them", async () => {
    await t.rows(ON_THE_WAY);
    await insertDeleted("acme", "not deleted", null);
    await insertDeleted("acme", "as old as the retention", "3 days");
    await insertDeleted("acme", "unsettled", "4 days", true);
    await insertDeleted("on-its-way", "on its way", "4 days");
    for (const tenant of ["moving", "fenced"]) await insertDeleted(tenant, tenant, "4 days");
    const gone = await insertDeleted("acme", "older", "3 days 1 ms");
    for (const [name, refer] of [
      ["logged", logAttempt],
      ["pending", dispatchTo],
      ["sent by a person", sendByPerson],
    ] as const) {
      await refer("acme", await insertDeleted("acme", name, "4 days"));
      // The id of the one that goes, at another tenant.
      await refer("globex", gone);
    }
    assert.equal(await t.value("SELECT postern.forget_deleted_endpoints(3)"), 3);
    assert.deepEqual(await t.names("SELECT description AS name FROM postern.endpoints ORDER BY 1"), [
      "as old as the retention",
      "logged",
      "not deleted",
      "on its way",
      "pending",
      "sent by a person",
      "unsettled",
    ]);
  });

  it("go 500 at once, those first that were deleted first", async () => {
    await t.rows(
      `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, description, created_at, updated_at, deleted_at)
        SELECT 'acme', gen_random_uuid(), 'https://receiver.test', '{}', '', n, now(), now(), now() - n * interval '1 day'
        FROM generate_series(4, 504) n ORDER BY random()`,
    );
    assert.equal(await t.value("SELECT postern.forget_deleted_endpoints(3)"), 500);
    assert.deepEqual(await t.names("SELECT description AS name FROM postern.endpoints"), ["4"]);
  });
});

const insertSet = (tenant: string, days: number) =>
  t.rows(
    `INSERT INTO postern.header_sets VALUES ($1, gen_random_uuid(), '{}', (now() AT TIME ZONE 'UTC')::date - $2::int)`,
    [tenant, days],
  );
const setsLeft = () => t.names("SELECT tenant_id AS name FROM postern.header_sets ORDER BY 1");

describe("sets of headers", () => {
  it("go two days after the last day of the log that may use them", async () => {
    await t.rows(ON_THE_WAY);
    await insertSet("used", 5);
    for (const tenant of ["old", "on-its-way", "moving", "fenced"]) await insertSet(tenant, 6);
    assert.equal(await t.value("SELECT postern.forget_header_sets(3, 10)"), 3);
    assert.deepEqual(await setsLeft(), ["on-its-way", "used"]);
  });

  it("go as many at once as asked, the oldest first", async () => {
    for (const [tenant, days] of [
      ["b", 8],
      ["a", 9],
      ["c", 7],
    ] as const)
      await insertSet(tenant, days);
    assert.equal(await t.value("SELECT postern.forget_header_sets(3, 1)"), 1);
    assert.deepEqual(await setsLeft(), ["b", "c"]);
  });
});

const INSERT_ENTRY = `INSERT INTO postern.audit_log (tenant_id, id, at, actor_type, action, outcome, details)`;
const entriesLeft = () => t.names("SELECT action AS name FROM postern.audit_log");

describe("audit entries", () => {
  it("go after a year", async () => {
    await t.rows(
      `${INSERT_ENTRY} SELECT 'acme', postern.lowest_id_at(now() - age), now(), 'operator', age::text, 'done', '{}'
        FROM unnest('{365 days, 365 days 00:00:00.001}'::interval[]) age`,
    );
    assert.equal(await t.value("SELECT postern.forget_old_audit()"), 1);
    assert.deepEqual(await entriesLeft(), ["365 days"]);
  });

  it("go 10,000 at once, the oldest first", async () => {
    await t.rows(
      `${INSERT_ENTRY} SELECT 'acme', postern.lowest_id_at(now() - interval '400 days' - n * interval '1 s'), now(),
        'operator', n, 'done', '{}' FROM generate_series(1, 10001) n ORDER BY random()`,
    );
    assert.equal(await t.value("SELECT postern.forget_old_audit()"), 10_000);
    assert.deepEqual(await entriesLeft(), ["1"]);
  });
});

const OBJECT_COLUMNS = `(tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key, size, sha256, content_type,
  state, state_since, version_id, etag, available_at)`;
const insertObject = (
  name: string,
  state: string,
  age: string,
  { at = null as string | null, kind = "response_body", of = "" } = {},
) =>
  t.rows(
    `INSERT INTO postern.stored_objects ${OBJECT_COLUMNS}
      VALUES ('acme', gen_random_uuid(), gen_random_uuid(), coalesce(nullif($6, '')::uuid, gen_random_uuid()), 1, $5,
        'bucket', $1, 0, '', '', $2, now() - $3::interval, $4, $4, CASE WHEN $4::text IS NULL THEN NULL ELSE now() END)`,
    [name, state, age, at, kind, of],
  );
const makeExport = (status: string, attempt: number) =>
  t.value(
    `INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at, status, attempt)
      VALUES ('acme', gen_random_uuid(), 'max', now() - interval '1 h', now(), $1, $2) RETURNING id::text`,
    [status, attempt],
  );
const forgetStorage = () => t.value("SELECT postern.forget_old_storage(3)");
const grantsLeft = () => t.names("SELECT tenant_id AS name FROM postern.storage_grants");
const objectsLeft = () => t.names("SELECT key AS name FROM postern.stored_objects ORDER BY 1");

// Most columns have milliseconds, so nothing is exactly as old as the retention.
describe("what storage remembers", () => {
  it("of a purged artifact, or of one that never came, goes after the retention", async () => {
    await insertObject("purged on the day", "purged", "2 days 23:59:59.999");
    await insertObject("purged before", "purged", "3 days 1 ms");
    await insertObject("never came", "missing", "3 days 1 ms");
    await insertObject("lost", "missing", "4 days", { at: "1" });
    for (const state of ["pending", "quarantined", "expired"]) await insertObject(state, state, "4 days");
    assert.equal(await forgetStorage(), 2);
    assert.deepEqual(await objectsLeft(), ["expired", "lost", "pending", "purged on the day", "quarantined"]);
  });

  it("of an archive that its export gave up goes after a quarter of an hour", async () => {
    const archive = async (
      name: string,
      ofExport: Parameters<typeof makeExport>,
      more: Parameters<typeof insertObject>[3] = {},
      age = "15 minutes 1 ms",
    ) =>
      insertObject(name, "pending", age, {
        kind: "export",
        of: String(await makeExport(...ofExport)),
        ...more,
      });
    await archive("failed", ["failed", 1]);
    await archive("begun anew", ["running", 2]);
    await archive("failed just now", ["failed", 1], {}, "14 minutes 59.999 s");
    await archive("running", ["running", 1]);
    await archive("queued", ["queued", 1]);
    await archive("made", ["expired", 1], { at: "1" });
    await archive("a body", ["failed", 1], { kind: "request_body" });
    await insertObject("of no export", "pending", "1 h", { kind: "export" });
    assert.equal(await forgetStorage(), 2);
    assert.deepEqual(await objectsLeft(), [
      "a body",
      "failed just now",
      "made",
      "of no export",
      "queued",
      "running",
    ]);
  });

  it("of an export that is over goes after the retention, behind its archives", async () => {
    const made = async (error: string, status: string, age: string) =>
      String(
        await t.value(
          `INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at, status, error, created_at, updated_at)
            VALUES ('acme', gen_random_uuid(), 'max', now() - interval '1 h', now(), $2, $1, now() - interval '10 days',
              now() - $3::interval)
            RETURNING id::text`,
          [error, status, age],
        ),
      );
    const archive = (name: string, of: string, state: string, age: string) =>
      insertObject(name, state, age, { kind: "export", of, at: "1" });
    await made("failed", "failed", "3 days 1 ms");
    await made("failed on the day", "failed", "2 days 23:59:59.999");
    await made("queued", "queued", "4 days");
    await made("running", "running", "4 days");
    await archive("a", await made("archive purged before", "expired", "9 days"), "purged", "3 days 1 ms");
    await archive("b", await made("archive purged on the day", "expired", "9 days"), "purged", "2 days");
    await archive("c", await made("archive lost", "expired", "9 days"), "missing", "8 days");
    const anothers = await made("another's object", "failed", "9 days");
    await insertObject("d", "expired", "9 days", { kind: "request_body", of: anothers });
    // The archive and its export, the failed one, and the one whose id a body happens to have.
    assert.equal(await forgetStorage(), 4);
    assert.deepEqual(await t.names("SELECT error AS name FROM postern.storage_exports ORDER BY 1"), [
      "archive lost",
      "archive purged on the day",
      "failed on the day",
      "queued",
      "running",
    ]);
  });

  it("of grants and events goes after the retention; the last event stays", async () => {
    await t.rows(
      `INSERT INTO postern.storage_grants SELECT name, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(),
        now() - age FROM (VALUES ('stays', '2 days 23:59:59.999'::interval), ('goes', '3 days 1 ms')) AS given (name, age)`,
    );
    await t.rows(
      `INSERT INTO postern.storage_events SELECT 'acme', n, 'a', 'bucket', 'key', gen_random_uuid(), now() - age
        FROM (VALUES (1, '3 days 1 ms'::interval), (2, '2 days 23:59:59.999'), (3, '3 days 1 ms'), (4, '3 days 1 ms')) AS given (n, age)`,
    );
    assert.equal(await forgetStorage(), 3);
    assert.deepEqual(await grantsLeft(), ["stays"]);
    assert.deepEqual(await t.names("SELECT sequence AS name FROM postern.storage_events ORDER BY 1"), [2, 4]);
  });

  it("goes, 10,000 rows of each kind at a time, the oldest first", async () => {
    await t.rows(
      `INSERT INTO postern.stored_objects ${OBJECT_COLUMNS}
        SELECT 'acme', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, 'response_body', 'bucket', n, 0, '', '',
          'purged', now() - n * interval '1 day', NULL, NULL, NULL FROM generate_series(4, 10004) n ORDER BY random()`,
    );
    await t.rows(
      `INSERT INTO postern.storage_grants SELECT n, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(),
        now() - n * interval '1 day' FROM generate_series(4, 10004) n ORDER BY random()`,
    );
    await t.rows(
      `INSERT INTO postern.storage_events SELECT 'acme', n, 'a', 'bucket', 'key', gen_random_uuid(), now() - interval '9 days'
        FROM generate_series(1, 10002) n ORDER BY random()`,
    );
    assert.equal(await forgetStorage(), 30_000);
    assert.deepEqual(await objectsLeft(), ["4"]);
    assert.deepEqual(await grantsLeft(), ["4"]);
    assert.deepEqual(
      await t.names("SELECT sequence AS name FROM postern.storage_events ORDER BY 1"),
      [10_001, 10_002],
    );
  });
});

/** Rows that go, by table; one of them is held by somebody else. */
const GOING = {
  endpoints: `(tenant_id, id, url, events, secret, created_at, updated_at, deleted_at)
    SELECT 'acme', gen_random_uuid(), '', '{}', '', now(), now(), now() - interval '9 days' FROM generate_series(1, 2)`,
  header_sets: "SELECT 'acme', gen_random_uuid(), '{}', current_date - 9 FROM generate_series(1, 2)",
  stored_objects: `${OBJECT_COLUMNS} SELECT 'acme', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, 'export',
    'bucket', n, 0, '', '', 'purged', now() - interval '9 days', NULL, NULL, NULL FROM generate_series(1, 2) n`,
  storage_grants: `SELECT 'acme', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), now() - interval '9 days'
    FROM generate_series(1, 2)`,
  storage_exports: `(tenant_id, id, requested_by, from_at, to_at, status, updated_at)
    SELECT 'acme', gen_random_uuid(), 'max', now() - interval '1 h', now(), 'failed', now() - interval '9 days'
    FROM generate_series(1, 2)`,
  // Of which the last stays.
  storage_events: `SELECT 'acme', n, 'a', 'bucket', 'key', gen_random_uuid(), now() - interval '9 days'
    FROM generate_series(1, 3) n`,
};

it("whoever forgets passes by what somebody else holds, and does not wait for it", async (test) => {
  const other = await t.pool.connect();
  test.after(async () => {
    await t.rollBack();
    other.release(true);
    await t.pool.query(
      `TRUNCATE ${Object.keys(GOING)
        .map((table) => `postern.${table}`)
        .join()}`,
    );
  });
  await other.query("BEGIN");
  for (const [table, insert] of Object.entries(GOING)) {
    await t.pool.query(`INSERT INTO postern.${table} ${insert}`);
    await other.query(`SELECT FROM postern.${table} LIMIT 1 FOR UPDATE`);
  }
  const forgotten = await t.rows(
    `SELECT postern.forget_deleted_endpoints(3) AS endpoints, postern.forget_header_sets(3, 10) AS sets,
      postern.forget_old_storage(3) AS storage`,
  );
  assert.deepEqual(forgotten, [{ endpoints: 1, sets: 1, storage: 4 }]);
});

describe("a retention of 0 days, or of null", () => {
  for (const name of [
    "forget_deleted_endpoints($1)",
    "forget_header_sets($1, 1)",
    "forget_old_storage($1)",
    "drop_past_partitions($1)",
  ]) {
    it(`is refused by ${name}`, async () => {
      const codes = [];
      for (const days of [0, null, 1]) codes.push(await t.refusal(`SELECT postern.${name}`, [days]));
      assert.deepEqual(codes, ["22023", "22023", null]);
    });
  }
});

const DAYS = [
  [-400, -400],
  [-401, -400],
  [60, 60],
  [60, 61],
  [-40, 60],
  [-41, 60],
  [null, 1],
  [1, null],
];

// Another one makes them, so that whoever may go on waits for it, and nothing is made here.
const codesOf = async (call: string) => {
  const other = await t.pool.connect();
  await other.query("SELECT pg_advisory_lock(hashtext('postern.ensure_partitions'))");
  await t.rows("SET LOCAL lock_timeout = '1ms'");
  const codes = [];
  try {
    for (const [from, to] of DAYS)
      codes.push(
        await t.refusal(`SELECT ${call} FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS day) AS today`, [
          from,
          to,
        ]),
      );
  } finally {
    other.release(true);
  }
  return codes;
};
const EXPECTED = ["55P03", "22023", "55P03", "22023", "55P03", "22023", "22023", "22023"];

describe("the days that get a partition", () => {
  it("are a hundred days apart at most, from 400 days ago to 60 ahead", async () => {
    assert.deepEqual(await codesOf("postern.ensure_partitions(day + $1::int, day + $2::int)"), EXPECTED);
  });

  it("are as many where rows are moved in steps, of these two tables", async () => {
    assert.deepEqual(
      await codesOf("postern.stage_partitions('events', day + $1::int, day + $2::int)"),
      EXPECTED,
    );
    for (const call of [
      "stage_partitions($1, current_date, current_date)",
      "copy_staged_rows($1, 0, 1)",
      "attach_staged($1)",
    ])
      assert.deepEqual(
        [
          await t.refusal(`SELECT postern.${call}`, ["endpoints"]),
          await t.refusal(`SELECT postern.${call}`, [null]),
        ],
        ["22023", "22023"],
      );
  });

  it("get a thousand rows of the default partition at once, and no more", async () => {
    await t.rows(
      `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
        SELECT 'acme', overlay(postern.lowest_id_at((current_date - day)::timestamp AT TIME ZONE 'UTC')::text
          PLACING lpad(n::text, 12, '0') FROM 25)::uuid, day, '{}', 0
        FROM (VALUES (20, 1000), (21, 1001)) AS given (day, count) CROSS JOIN LATERAL generate_series(1, count) n`,
    );
    // Of both tables, less the events of the day with too many.
    assert.equal(await t.value("SELECT postern.ensure_partitions(current_date - 21, current_date - 20)"), 3);
    assert.deepEqual(await t.rows("SELECT type, count(*)::int FROM postern.events_default GROUP BY 1"), [
      { type: "21", count: 1001 },
    ]);
  });
});
