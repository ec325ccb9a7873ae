import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { makeMetrics, type Metrics } from "../telemetry/metrics.ts";
import { makeEndpointHealth, noteDelivered, type EndpointHealth } from "./endpoint-health.ts";
import { insertEndpoint } from "./endpoint-store.ts";

const DISABLE_AFTER_MS = 60_000;
const URL = "https://hooks.example.com/in?token=abc";
const DELIVERED = { status: "delivered", isGone: false } as const;
const FAILED = { status: "failed", isGone: false } as const;
const GONE = { status: "failed", isGone: true } as const;
const tenantId = tenant("acme");

let database: TestDatabase;
let health: EndpointHealth;
let metrics: Metrics;
let followed: unknown[];
let lines: unknown[];
before(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query(
    "DELETE FROM postern.endpoints; DELETE FROM postern.outbox; DELETE FROM postern.audit_log",
  );
  followed = [];
  metrics = makeMetrics();
  const queue = {
    async endpointChanged(endpoint: unknown) {
      followed.push(endpoint);
    },
  };
  const kept = makeKeptLog();
  lines = kept.lines;
  const { log } = kept;
  health = makeEndpointHealth({ db: database.pool, queue, log, metrics, disableAfterMs: DISABLE_AFTER_MS });
});
after(() => database.drop());

/** As an attempt saw it. `told`: its tenant knows of its failure. */
async function create({
  failingSince = null,
  told = false,
}: { failingSince?: Date | null; told?: boolean } = {}) {
  const endpoint = { ...newEndpoint({ tenantId }), url: URL };
  await insertEndpoint(database.pool, endpoint);
  await database.pool.query(
    "UPDATE postern.endpoints SET failing_since = $2, failing_told_at = CASE WHEN $3 THEN now() END WHERE id = $1",
    [endpoint.id, failingSince, told],
  );
  return { tenantId, endpointId: endpoint.id, url: URL, failingSince };
}

async function stored(): Promise<{
  enabled: boolean;
  disabled_reason: string | null;
  failing_since: Date | null;
}> {
  const { rows } = await database.pool.query(
    "SELECT enabled, disabled_reason, failing_since FROM postern.endpoints",
  );
  return rows[0];
}

async function published(): Promise<[type: string, data: unknown][]> {
  const { rows } = await database.pool.query<{ tenant_id: string; type: string; body: string }>(
    "SELECT tenant_id, type, body FROM postern.outbox ORDER BY id",
  );
  assert.ok(rows.every((row) => row.tenant_id === "acme"));
  return rows.map(({ type, body }) => [type, JSON.parse(body).data]);
}

async function counted(): Promise<unknown> {
  const { values } = await metrics.endpointsDisabled.get();
  return values.map(({ labels, value }) => [labels.reason, value]);
}

const ago = (ms: number) => new Date(Date.now() - ms);

describe("an endpoint that answers 410", () => {
  it("is disabled: an event, the audit log and the log say so, once, and its dispatches follow", async () => {
    const endpoint = await create();
    assert.deepEqual(await Promise.all([health.observe(endpoint, GONE), health.observe(endpoint, GONE)]), [
      true,
      true,
    ]);
    assert.deepEqual(await stored(), { enabled: false, disabled_reason: "gone", failing_since: null });
    const { endpointId } = endpoint;
    assert.deepEqual(await published(), [
      ["endpoint.disabled", { endpoint_id: endpointId, url: URL, reason: "gone" }],
    ]);
    const { rows } = await database.pool.query(
      `SELECT tenant_id, actor_type, action, endpoint_id, outcome, details, request_id, address FROM postern.audit_log`,
    );
    const details = { reason: "gone", url: "https://hooks.example.com/in?…" };
    const done = { action: "endpoint.disabled", endpoint_id: endpointId, outcome: "done", details };
    assert.deepEqual(rows, [
      { tenant_id: "acme", actor_type: "postern", ...done, request_id: null, address: null },
    ]);
    assert.deepEqual([followed, await counted()], [[{ tenantId, endpointId }], [["gone", 1]]]);
    assert.deepEqual(lines, [{ level: 40, tenantId, endpointId, reason: "gone" }]);
  });

  it("is no longer to be used, but neither told nor counted, where somebody else disabled it", async () => {
    const endpoint = await create();
    await database.pool.query("UPDATE postern.endpoints SET enabled = false, disabled_reason = 'manual'");
    assert.equal(await health.observe(endpoint, GONE), true);
    assert.equal((await stored()).disabled_reason, "manual");
    assert.deepEqual([await published(), followed, await counted(), lines], [[], [], [], []]);
  });

  it("is disabled by its next answer when the database failed at the first", async () => {
    const endpoint = await create();
    await database.pool.query("ALTER TABLE postern.outbox RENAME TO away");
    await assert.rejects(health.observe(endpoint, GONE));
    await database.pool.query("ALTER TABLE postern.away RENAME TO outbox");
    assert.equal((await stored()).enabled, true);
    assert.equal(await health.observe(endpoint, GONE), true);
    assert.equal((await stored()).enabled, false);
    assert.equal((await published()).length, 1);
  });
});

describe("an endpoint that fails", () => {
  it("is failing from its first failure on", async () => {
    const endpoint = await create();
    assert.equal(await health.observe(endpoint, FAILED), false);
    const { failing_since: since, ...rest } = await stored();
    assert.ok(since !== null && Math.abs(since.getTime() - Date.now()) < 60_000);
    assert.deepEqual(rest, { enabled: true, disabled_reason: null });
    await database.pool.query("UPDATE postern.endpoints SET failing_since = NULL");
    // Once for what was read of it: it may have worked meanwhile.
    await health.observe(endpoint, FAILED);
    await health.observe({ ...endpoint, failingSince: ago(1000) }, FAILED);
    assert.equal((await stored()).failing_since, null);
    assert.deepEqual([await published(), followed], [[], []]);
  });

  it("is disabled after the whole of its time and not before", async (test) => {
    const now = Date.now();
    test.mock.timers.enable({ apis: ["Date"], now });
    const recent = await create({ failingSince: ago(DISABLE_AFTER_MS - 1) });
    assert.equal(await health.observe(recent, FAILED), false);
    assert.equal((await stored()).enabled, true);
    await database.pool.query("DELETE FROM postern.endpoints");
    const long = await create({ failingSince: ago(DISABLE_AFTER_MS) });
    assert.equal(await health.observe(long, FAILED), true);
    assert.deepEqual(await stored(), {
      enabled: false,
      disabled_reason: "failing",
      failing_since: long.failingSince,
    });
    assert.deepEqual(await published(), [
      ["endpoint.disabled", { endpoint_id: long.endpointId, url: URL, reason: "failing" }],
    ]);
    assert.deepEqual(await counted(), [["failing", 1]]);
  });

  it("is not disabled by a delivery, however long it has failed", async () => {
    const endpoint = await create({ failingSince: ago(2 * DISABLE_AFTER_MS) });
    assert.equal(await health.observe(endpoint, DELIVERED), false);
    assert.deepEqual(await stored(), { enabled: true, disabled_reason: null, failing_since: null });
  });
});

describe("an endpoint that works again", () => {
  it("is told of where its failure was told, and once", async () => {
    const failingSince = ago(5000);
    const endpoint = await create({ failingSince, told: true });
    const outcomes = await Promise.all([1, 2, 3].map(() => health.observe(endpoint, DELIVERED)));
    assert.deepEqual(outcomes, [false, false, false]);
    assert.equal((await stored()).failing_since, null);
    assert.deepEqual(await published(), [
      [
        "endpoint.recovered",
        { endpoint_id: endpoint.endpointId, url: URL, failing_since: failingSince.toISOString() },
      ],
    ]);
  });

  it("is not told of where its failure was not", async () => {
    await health.observe(await create({ failingSince: ago(5000) }), DELIVERED);
    assert.equal((await stored()).failing_since, null);
    assert.deepEqual(await published(), []);
  });

  it("does so as well by a person's delivery", async () => {
    for (const told of [false, true]) {
      const endpoint = await create({ failingSince: ago(5000), told });
      await noteDelivered(database.pool, endpoint);
      assert.equal((await stored()).failing_since, null);
      assert.deepEqual(
        (await published()).map(([type]) => type),
        told ? ["endpoint.recovered"] : [],
      );
      await database.pool.query("DELETE FROM postern.endpoints");
    }
  });

  it("writes nothing where none of its attempts failed", async () => {
    const endpoint = await create();
    const since = ago(5000);
    await database.pool.query("UPDATE postern.endpoints SET failing_since = $1", [since]);
    assert.equal(await health.observe(endpoint, DELIVERED), false);
    assert.deepEqual((await stored()).failing_since, since);
  });

  it("works from then on, though the note of its failure is still under way", async (test) => {
    const endpoint = await create();
    const client = await database.pool.connect();
    try {
      await client.query("BEGIN; SELECT FROM postern.endpoints FOR UPDATE");
      const failing = health.observe(endpoint, FAILED);
      const pid = await pidOf(client);
      await eventually(async () => (await waitersFor(database.pool, pid)) === 1);
      const query = test.mock.method(database.pool, "query");
      const working = health.observe(endpoint, DELIVERED);
      await setImmediate();
      // Asked now, the table says that it does not fail.
      assert.equal(query.mock.callCount(), 0);
      await client.query("COMMIT");
      await Promise.all([failing, working]);
    } finally {
      client.release();
    }
    assert.equal((await stored()).failing_since, null);
  });

  it("works from then on, though the note of its failure failed", async () => {
    const endpoint = await create();
    await database.pool.query("ALTER TABLE postern.endpoints RENAME TO away");
    const failing = health.observe(endpoint, FAILED);
    const working = health.observe(endpoint, DELIVERED);
    await assert.rejects(failing);
    await assert.rejects(working);
    await database.pool.query("ALTER TABLE postern.away RENAME TO endpoints");
    await health.observe(endpoint, FAILED);
    assert.notEqual((await stored()).failing_since, null);
    await health.observe(endpoint, DELIVERED);
    assert.equal((await stored()).failing_since, null);
  });
});
