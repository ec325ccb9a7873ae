import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { inTransaction } from "../database/transaction.ts";
import {
  beginFailing,
  disableEndpoint,
  endFailing,
  findEndpoint,
  findHealth,
  insertEndpoint,
  listEndpoints,
  loadTargets,
  lockEndpoint,
  lockHeaders,
  lockTenantEndpoints,
  replaceSecret,
  softDeleteEndpoint,
  updateEndpoint,
} from "./endpoint-store.ts";
import { extendTemporary, findAbandoned, lockAbandoned } from "./temporary-store.ts";

const [tenantId, other] = [tenant("acme"), tenant("globex")];

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(() => database.pool.query("DELETE FROM postern.endpoints"));
after(() => database.drop());

describe("a new endpoint", () => {
  it("is counted by the next one of its tenant, which waits for it; another tenant's does not", async () => {
    const { pool } = database;
    const first = await pool.connect();
    try {
      await first.query("BEGIN");
      assert.equal(await lockTenantEndpoints(first, tenantId), 0);
      await insertEndpoint(first, newEndpoint({ tenantId }));
      const second = inTransaction(pool, (transaction) => lockTenantEndpoints(transaction, tenantId));
      const pid = await pidOf(first);
      await eventually(async () => (await waitersFor(pool, pid)) === 1);
      assert.equal(await inTransaction(pool, (transaction) => lockTenantEndpoints(transaction, other)), 0);
      await first.query("COMMIT");
      assert.equal(await second, 1);
    } finally {
      first.release();
    }
  });
});

describe("a change of an endpoint", () => {
  const before = {
    url: "https://example.org/a",
    events: ["invoice.*"],
    description: "before",
    enabled: false,
    mode: "pull",
    rateLimit: 7,
    metadata: { a: "1" },
  } as const;
  const stored = { headers: { "X-A": "1" }, maskedHeaders: ["X-B"], sealedHeaders: Buffer.from("sealed") };
  const cases: [name: string, Parameters<typeof updateEndpoint>[3], changed: Record<string, unknown>][] = [
    ["nothing", {}, {}],
    ["its URL", { url: "https://example.org/b" }, { url: "https://example.org/b" }],
    ["its events", { events: ["*"] }, { events: ["*"] }],
    ["its description", { description: null }, { description: null }],
    ["its rate", { rate_limit: null }, { rateLimit: null }],
    ["its metadata", { metadata: {} }, { metadata: {} }],
    ["that it is enabled", { enabled: true }, { enabled: true, disabledReason: null }],
    ["its mode", { mode: "push" }, { mode: "push" }],
    [
      "its headers",
      { stored: { headers: { "X-C": "2" }, maskedHeaders: [], sealedHeaders: null } },
      { headers: { "X-C": "2" }, maskedHeaders: [] },
    ],
  ];
  for (const [name, change, changed] of cases) {
    it(`changes ${name} alone`, async () => {
      const { pool } = database;
      const given = { ...newEndpoint({ tenantId }), ...before, events: [...before.events], stored };
      const { updatedAt: _former, ...former } = await insertEndpoint(pool, given);
      const answered = await updateEndpoint(pool, tenantId, given.id, change);
      assert.ok(answered !== null);
      const { updatedAt: _, ...present } = answered;
      assert.deepEqual(present, { ...former, ...changed });
      const { rows } = await pool.query("SELECT sealed_headers AS sealed FROM postern.endpoints");
      assert.deepEqual(rows, [{ sealed: change.stored === undefined ? stored.sealedHeaders : null }]);
      assert.equal(await updateEndpoint(pool, other, given.id, change), null);
    });
  }
});

describe("an endpoint", () => {
  const secret = Buffer.from("another");
  for (const [what, isDeleted, asker] of [
    ["that was deleted is found, changed and locked by nobody", true, tenantId],
    ["is found, changed and locked by no other tenant", false, other],
  ] as const) {
    it(what, async () => {
      const { pool } = database;
      const given = { ...newEndpoint({ tenantId }), mode: "pull", temporary: true } as const;
      const { id, url } = await insertEndpoint(pool, given);
      await pool.query("UPDATE postern.endpoints SET temporary_until = now() - interval '1 hour'");
      if (isDeleted) assert.ok(await softDeleteEndpoint(pool, tenantId, id));
      const stored = async () => (await pool.query("SELECT to_jsonb(e) FROM postern.endpoints e")).rows;
      const before = await stored();
      const key = { tenantId: asker, endpointId: id };
      const answers = {
        listed: await listEndpoints(pool, asker),
        found: await findEndpoint(pool, asker, id),
        counted: await inTransaction(pool, (transaction) => lockTenantEndpoints(transaction, asker)),
        headers: await lockHeaders(pool, asker, id),
        updated: await updateEndpoint(pool, asker, id, { enabled: true }),
        deleted: await softDeleteEndpoint(pool, asker, id),
        replaced: await replaceSecret(pool, asker, id, { secret, graceSeconds: 0 }),
        targets: await loadTargets(pool, [key]),
        health: await findHealth(pool, asker, id),
        locked: await lockEndpoint(pool, key),
        disabled: await disableEndpoint(pool, { ...key, url, failingSince: null }, "gone"),
        abandoned: (await findAbandoned(pool)).filter((one) => one.tenantId === asker),
        lockedAbandoned: await lockAbandoned(pool, key),
      };
      await extendTemporary(pool, key);
      assert.deepEqual(answers, {
        listed: [],
        found: null,
        counted: 0,
        headers: null,
        updated: null,
        deleted: false,
        replaced: false,
        targets: [],
        health: null,
        locked: false,
        disabled: false,
        abandoned: [],
        lockedAbandoned: false,
      });
      assert.deepEqual(await stored(), before);
    });
  }
});

describe("since when an endpoint fails", () => {
  it("is noted and ended for no other tenant", async () => {
    const { pool } = database;
    const { id: endpointId } = await insertEndpoint(pool, newEndpoint({ tenantId }));
    const isFailing = async () => (await findHealth(pool, tenantId, endpointId))?.failingSince !== null;
    await beginFailing(pool, { tenantId: other, endpointId });
    assert.equal(await isFailing(), false);
    await beginFailing(pool, { tenantId, endpointId });
    assert.equal(await endFailing(pool, { tenantId: other, endpointId }, false), null);
    assert.equal(await isFailing(), true);
  });

  it("is its first failure, until it is enabled: no later failure or change moves it", async () => {
    const { pool } = database;
    const { id } = await insertEndpoint(pool, newEndpoint({ tenantId }));
    const minutes = async (): Promise<unknown> => {
      const { rows } = await pool.query(
        "SELECT round(extract(epoch FROM now() - failing_since) / 60)::int AS ago FROM postern.endpoints",
      );
      return rows[0]?.ago;
    };
    await beginFailing(pool, { tenantId, endpointId: id });
    assert.equal(await minutes(), 0);
    await pool.query("UPDATE postern.endpoints SET failing_since = now() - interval '9 min'");
    await beginFailing(pool, { tenantId, endpointId: id });
    for (const change of [{ enabled: false }, { description: "x" }]) {
      await updateEndpoint(pool, tenantId, id, change);
      assert.equal(await minutes(), 9);
    }
    await updateEndpoint(pool, tenantId, id, { enabled: true });
    assert.equal(await minutes(), null);
  });
});
