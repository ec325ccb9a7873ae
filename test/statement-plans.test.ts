/**
 * The statements that run all the time are planned once for each connection,
 * whatever the tables hold at that moment, and run with that plan for hours. So
 * none may have a plan that reads a whole table, however small the table was.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createPool, type Db, type Pool, type PoolClient } from "../src/database/pool.ts";
import type { ServingRole } from "../src/database/session-settings.ts";
import { BY_INDEX } from "../src/database/tenant-pool.ts";
import { findNewestAttempt } from "../src/deliveries/event-log-store.ts";
import { loadTargets, lockEndpoint } from "../src/endpoints/endpoint-store.ts";
import { findEarlierEvents, findKnownEvents } from "../src/queue/postgres/accept-store.ts";
import {
  claimDispatches,
  findBacklogs,
  parkDispatches,
  parkOldest,
  pullDispatches,
} from "../src/queue/postgres/claim-store.ts";
import { completeAttempts } from "../src/queue/postgres/complete-store.ts";
import {
  endDispatches,
  holdDispatches,
  holdPendingDispatches,
  resumeDispatches,
  supersedeDispatches,
} from "../src/queue/postgres/follow-store.ts";
import { removeReplayed } from "../src/queue/postgres/once-store.ts";
import { freeLeasesOfDead } from "../src/queue/postgres/presence-store.ts";
import { ALL_SLOTS } from "../src/queue/slots.ts";
import { deferDispatch, releaseDispatches } from "../src/queue/postgres/release-store.ts";
import { deleteOldIdempotencyKeys, deleteSuperseded } from "../src/queue/postgres/upkeep-store.ts";
import { claimReplay, countOutcomes } from "../src/replays/replay-store.ts";
import { completed, event, leased } from "./support/store-inputs.ts";
import { ACCEPT_STATEMENTS } from "./support/accept-statements.ts";
import { LOG_STATEMENTS } from "./support/log-statements.ts";
import { CLIENT_STATEMENTS } from "./support/pull-statements.ts";
import { TURN_STATEMENTS } from "./support/turn-statements.ts";
import { UPKEEP_STATEMENTS } from "./support/upkeep-statements.ts";
import {
  assertThrough,
  isWrong,
  planOf,
  statementsOf,
  type Reading,
  type Through,
  type Ways,
} from "./support/plans.ts";
import { uncovered } from "./support/statement-names.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { LEASE_OWNER, seedTwoTenants, type Rows } from "./support/two-tenants.ts";

/** What is asked of the store for all of `batch` at once, and how it finds rows other than by their key. */
type Case = {
  as: ServingRole;
  /** Of the transaction in which it is asked, beside those of the session. */
  settings?: string;
  run: (db: Db, batch: Batch) => Promise<unknown>;
  also?: Ways;
} & Through;
type Batch = [Rows, ...Rows[]];
const ofEndpoint: Ways = { dispatches: ["tenant_id", "endpoint_id"] };
const runOf = ({ tenantId, endpointId, replayId: id }: Rows) => ({
  tenantId,
  endpointId,
  id,
  leaseOwner: LEASE_OWNER,
});
const endpointOf = ([first]: Batch): Rows => first;

const WORKER = "postern_worker";
const TENANT = "postern_tenant";
const PUBLISHER = "postern_publisher";

const STATEMENTS: Record<string, Case> = {
  "find known": {
    as: PUBLISHER,
    run: (db, batch) =>
      findKnownEvents(
        db,
        batch.map(({ tenantId, eventId }) => ({ tenantId, id: eventId })),
      ),
  },
  "find earlier": {
    as: PUBLISHER,
    run: (db, batch) =>
      findEarlierEvents(
        db,
        batch.map((rows) => event(rows, rows.key)),
      ),
  },
  "complete the last": {
    as: WORKER,
    run: (db, batch) =>
      completeAttempts(
        db,
        batch.map((rows) => ({ ...completed(rows), nextDelayMs: null })),
        "skip",
      ),
  },
  "complete, skip": { as: WORKER, run: (db, batch) => completeAttempts(db, batch.map(completed), "skip") },
  "complete, wait": { as: WORKER, run: (db, batch) => completeAttempts(db, batch.map(completed), "wait") },
  claim: {
    as: WORKER,
    run: (db, batch) =>
      claimDispatches(
        db,
        LEASE_OWNER,
        { dispatches: 500, bodyBytes: 1e6 },
        { slots: ALL_SLOTS, without: [endpointOf(batch).endpointId] },
      ),
    also: { dispatches: ["claimable_at"] },
    hashes: true,
  },
  parkOldest: { as: WORKER, run: (db, batch) => parkOldest(db, [endpointOf(batch)]), also: ofEndpoint },
  park: {
    as: WORKER,
    run: (db, batch) => parkDispatches(db, [endpointOf(batch).endpointId]),
    also: { dispatches: ["claimable_at"] },
    hashes: true,
  },
  pull: {
    as: WORKER,
    run: (db, batch) =>
      pullDispatches(
        db,
        LEASE_OWNER,
        batch.map(({ tenantId, endpointId }) => ({ tenantId, endpointId, dispatches: 5, bodyBytes: 1e6 })),
      ),
    also: ofEndpoint,
  },
  "find backlogs": { as: WORKER, run: (db) => findBacklogs(db), also: { dispatches: [] } },
  release: { as: WORKER, run: (db, batch) => releaseDispatches(db, batch.map(leased), "parked") },
  "release, skip": {
    as: WORKER,
    run: (db, batch) => releaseDispatches(db, batch.map(leased), "parked", "skip"),
  },
  defer: { as: WORKER, run: (db, batch) => deferDispatch(db, leased(endpointOf(batch))) },
  "hold, skip": { as: WORKER, run: (db, batch) => holdDispatches(db, batch.map(leased), "skip") },
  "hold, wait": { as: WORKER, run: (db, batch) => holdDispatches(db, batch.map(leased), "wait") },
  "hold a slice": { as: TENANT, run: (db, batch) => holdPendingDispatches(db, endpointOf(batch), null) },
  "resume a slice": { as: TENANT, run: (db, batch) => resumeDispatches(db, endpointOf(batch), null) },
  "end a slice": { as: TENANT, run: (db, batch) => endDispatches(db, endpointOf(batch), null) },
  supersede: {
    as: TENANT,
    run: (db, batch) => supersedeDispatches(db, endpointOf(batch)),
    also: ofEndpoint,
  },
  "claim a replay": {
    as: WORKER,
    run: (db) => claimReplay(db, LEASE_OWNER, 1000),
    also: { replays: ["lease_until"] },
  },
  "count a replay's outcomes": {
    as: TENANT,
    settings: BY_INDEX,
    run: (db, batch) => countOutcomes(db, runOf(endpointOf(batch))),
    also: { dispatches: ["replay_id"], deliveries: ["replay_id", "event_id"] },
  },
  "take back a replay's dispatches": {
    as: TENANT,
    run: (db, batch) => removeReplayed(db, endpointOf(batch)),
    also: ofEndpoint,
  },
  "send an event again": {
    as: TENANT,
    run: async (db, batch) => {
      await lockEndpoint(db, endpointOf(batch));
      await findNewestAttempt(db, endpointOf(batch));
    },
    also: { deliveries: ["event_id", "tenant_id"] },
  },
  ...ACCEPT_STATEMENTS,
  ...CLIENT_STATEMENTS,
  ...LOG_STATEMENTS,
  ...UPKEEP_STATEMENTS,
  ...TURN_STATEMENTS,
  "free leases of dead": {
    as: WORKER,
    run: (db) => freeLeasesOfDead(db, LEASE_OWNER),
    also: { dispatches: ["claimable_at"] },
  },
  targets: { as: WORKER, run: (db, batch) => loadTargets(db, batch) },
  "delete superseded": {
    as: WORKER,
    run: (db) => deleteSuperseded(db),
    also: { dispatches: ["claimable_at"] },
  },
  "delete keys": {
    as: WORKER,
    run: (db) => deleteOldIdempotencyKeys(db),
    also: { idempotency_keys: ["created_at"] },
  },
};

/** The names of the statements that the cases ran. */
const ran = new Set<string>();

const TABLES = `endpoints events dispatches deliveries idempotency_keys outbox
  delivery_counts delivery_stats delivery_totals newest_attempts`
  .replaceAll(/\w+/g, "postern.$&,")
  .slice(0, -1);
const [PENDING, LOGGED, ENDPOINTS, AT_ONCE] = [100_000, 200_000, 2000, 500];

let database: TestDatabase;
/** Rows that the statements ask for; whether they are there is of no matter to a plan. */
let rows: Rows;
/** A session for each statement, which keeps the plan that it made while the tables were empty. */
const early = new Map<string, PoolClient>();
const pools: Pool[] = [];

before(async () => {
  database = await createTestDatabase();
  // Only what a test does brings statistics.
  await database.pool.query(`DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT oid::regclass FROM pg_class WHERE relnamespace = 'postern'::regnamespace AND relkind = 'r' LOOP
      EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', name);
    END LOOP;
  END $$`);
  ({ acme: rows } = await seedTwoTenants(database.pool));
});
after(async () => {
  for (const client of early.values()) client.release(true);
  for (const pool of pools) await pool.end();
  await database.drop();
});

async function sessionOf(role: ServingRole, settings = ""): Promise<PoolClient> {
  const options = { poolSize: 1, applicationName: "plans", connectionTimeoutMs: 5000 };
  const pool = createPool({ url: database.url, ...options, role });
  pools.push(pool);
  const client = await pool.connect();
  await client.query("SELECT set_config('postern.tenant', $1, false)", [rows.tenantId]);
  // As from the sixth execution on.
  await client.query(`SET plan_cache_mode = force_generic_plan; ${settings.replaceAll("SET LOCAL", "SET")}`);
  return client;
}

/** What `work` did is undone, but for the plans that the session made. */
async function undone<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  await client.query("BEGIN");
  try {
    return await work();
  } finally {
    await client.query("ROLLBACK");
  }
}

/** What of a statement's readings is neither by key nor in the way that it names. */
async function wrongReadings(
  name: string,
  { as, settings, run, also = {}, ...how }: Case,
): Promise<Reading[]> {
  const client = await sessionOf(as, settings);
  try {
    const statements = await undone(client, () => statementsOf(client, (db) => run(db, [rows])));
    const found: Reading[] = [];
    for (const [place, statement] of statements.entries()) {
      if (statement.name !== null) ran.add(statement.name);
      found.push(...(await planOf(client, `${name} ${place}`, statement)));
    }
    assert.ok(found.length > 0);
    assertThrough(found, how);
    return found.filter((reading) => isWrong(reading, also));
  } finally {
    client.release(true);
  }
}

/** 100,000 pending dispatches and 200,000 logged deliveries of 2,000 endpoints; answers what one worker has leased. */
async function fill(): Promise<Batch> {
  await database.pool.query(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
      SELECT 'tenant_' || n / 20, md5('e' || n)::uuid, 'https://example.com/', '{*}', '', now(), now()
      FROM generate_series(1, $1::int) n`,
    [ENDPOINTS],
  );
  await database.pool.query(
    `INSERT INTO postern.dispatches
        (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, lease_owner)
      SELECT 'tenant_' || n % $2 / 20, md5('e' || n % $2)::uuid, postern.uuid_v7(), gen_random_uuid(), 'invoice.paid', 1,
        now(), now() + interval '1 minute', CASE WHEN n <= $3 THEN $4::uuid END
      FROM generate_series(1, $1::int) n`,
    [PENDING, ENDPOINTS, AT_ONCE, LEASE_OWNER],
  );
  await database.pool.query(
    `INSERT INTO postern.deliveries
        (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt, request_headers, latency_ms)
      SELECT 'tenant_' || n % $2 / 20, md5('e' || n % $2)::uuid, postern.uuid_v7(), gen_random_uuid(), 'invoice.paid',
        'event', 'delivered', 1, '{}', 1
      FROM generate_series(1, $1::int) n`,
    [LOGGED, ENDPOINTS],
  );
  await database.pool.query(
    `INSERT INTO postern.outbox (id, tenant_id, type, body)
      SELECT postern.uuid_v7(), 'tenant_' || n % $2 / 20, 'invoice.paid', '{}' FROM generate_series(1, $1::int) n`,
    [PENDING, ENDPOINTS],
  );
  const { rows: found } = await database.pool.query<
    Pick<Rows, "tenantId" | "endpointId" | "leasedId" | "eventId">
  >(
    `SELECT tenant_id AS "tenantId", endpoint_id AS "endpointId", id AS "leasedId", event_id AS "eventId"
      FROM postern.dispatches WHERE lease_owner = $1 AND tenant_id LIKE 'tenant_%'`,
    [LEASE_OWNER],
  );
  const [first, ...others] = found.map((row): Rows => Object.assign({}, rows, row));
  assert.ok(first !== undefined && others.length === AT_ONCE - 1);
  return [first, ...others];
}

async function rowsRead(client: PoolClient, work: () => Promise<unknown>): Promise<number> {
  return undone(client, async () => {
    await work();
    const { rows: sums } = await client.query<{ read: number }>(
      `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS read
        FROM pg_stat_xact_user_tables WHERE schemaname = 'postern'`,
    );
    return sums[0]?.read ?? 0;
  });
}

function plannedOn(on: string, bring: () => Promise<unknown>): void {
  describe(`planned on ${on}`, () => {
    before(bring);
    for (const [name, statement] of Object.entries(STATEMENTS)) {
      it(`${name} finds rows by index`, async () => {
        assert.deepEqual(await wrongReadings(name, statement), []);
      });
    }
  });
}

plannedOn("new tables", () => database.pool.query(`TRUNCATE ${TABLES}`));
plannedOn("empty tables", () => database.pool.query(`ANALYZE ${TABLES}`));

describe("planned on empty tables, which then fill", () => {
  let batch: Batch;
  before(async () => {
    for (const [name, { as, settings, run }] of Object.entries(STATEMENTS)) {
      const client = await sessionOf(as, settings);
      early.set(name, client);
      await undone(client, () => run(client, [rows]));
    }
    // From here on nothing may bring statistics: the plans would be made anew.
    batch = await fill();
  });
  for (const [name, { run }] of Object.entries(STATEMENTS)) {
    it(`${name} reads what it needs and no more`, async () => {
      const client = early.get(name);
      assert.ok(client !== undefined);
      const read = await rowsRead(client, () => run(client, batch));
      // Each of the batch by a few look-ups: itself, the twenty endpoints of its tenant, its event.
      assert.ok(read <= AT_ONCE * 30, `${read} rows`);
    });
  }
});

/** While all is due that {@link fill} brought. */
function claimsReadFew(sessionFor: (name: string) => Promise<PoolClient>): void {
  before(() => database.pool.query("UPDATE postern.dispatches SET claimable_at = now(), lease_owner = NULL"));
  for (const name of ["claim", "claim in turns"]) {
    it(`${name} reads few more dispatches than it takes`, async () => {
      const client = await sessionFor(name);
      const read = await rowsRead(client, async () => STATEMENTS[name]?.run(client, [rows]));
      assert.ok(read > 0 && read <= AT_ONCE * 30, `${read} rows`);
    });
  }
}
describe("planned on empty tables, which then fill with what is due", () =>
  claimsReadFew(async (name) => early.get(name) ?? assert.fail(name)));

plannedOn("large tables", () => database.pool.query(`ANALYZE ${TABLES}`));
describe("planned on large tables of which all is due", () =>
  claimsReadFew(async (name) => {
    await database.pool.query(`ANALYZE ${TABLES}`);
    const client = await sessionOf(WORKER);
    early.set(`${name}, later`, client);
    return client;
  }));
plannedOn("tiny tables", async () => {
  // Their files are as small as their rows.
  await database.pool.query(`TRUNCATE ${TABLES}`);
  ({ acme: rows } = await seedTwoTenants(database.pool));
  await database.pool.query(`ANALYZE ${TABLES}`);
});

describe("each statement that sessions keep planned", () => {
  it("has a name of at most 63 characters, all that PostgreSQL tells apart", () => {
    for (const name of ran) assert.ok(name.length <= 63, name);
  });

  it("has a case, or a reason why it has none", async () => {
    const { without, needless } = await uncovered(ran);
    assert.deepEqual(without, [], "add a case to STATEMENTS, or a reason to NOT_PLANNED");
    assert.deepEqual(needless, [], "NOT_PLANNED has a reason for what is planned, or is not there");
  });
});
