/** Asking for a replay while others ask, or change its endpoint: what counting and deciding see of each other. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { seedEvents } from "../../test/support/replays.ts";
import { openTenantPool, type OpenedTenantPool } from "../../test/support/tenant-pool.ts";
import { ADA } from "../../test/support/two-tenants.ts";
import { sealSigningSecret } from "../endpoints/signing-secret.ts";
import { removeReplayed } from "../queue/postgres/once-store.ts";
import { newEndpointId, newReplayId, type EndpointId } from "../shared/id.ts";
import { makeSecretBox } from "../shared/secret-box.ts";
import { Replays, type ReplayRequest } from "./replays.ts";
import { MAX_REPLAY_RANGE_MS, MAX_RUNNING_REPLAYS } from "./replay.ts";

const { tenantId } = ADA;
const secretBox = makeSecretBox([Buffer.alloc(32, 7)]);

let database: TestDatabase;
let tenants: OpenedTenantPool;
let replays: Replays;
/** Done before each statement of a count. */
let meanwhile: () => Promise<unknown>;
/** Done before each look for what is being stored. */
let beforeLook: () => Promise<unknown>;
before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 4);
  replays = new Replays({
    tenants: {
      ...tenants,
      of: (of) => ({
        transaction: (work) => tenants.of(of).transaction(work),
        query: async (text, values) => {
          if (typeof text === "string" && text.includes("pg_locks")) await beforeLook();
          return tenants.of(of).query(text, values);
        },
      }),
      reading: (of) => ({
        query: async (text, values) => {
          await meanwhile();
          return tenants.reading(of).query(text, values);
        },
      }),
    },
    secretBox,
    removeDispatches: removeReplayed,
  });
});
after(async () => {
  await tenants.end();
  await database.drop();
});
beforeEach(async () => {
  [meanwhile, beforeLook] = [async () => undefined, async () => undefined];
  for (const table of ["replays", "endpoints", "events", "deliveries", "dispatches", "audit_log"])
    await sql(`DELETE FROM postern.${table}`);
});

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);

/** An endpoint with so many failures. */
async function failing(count = 1): Promise<EndpointId> {
  const endpointId = newEndpointId();
  await sql(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
      VALUES ('acme', $1, 'https://example.com/', '{*}', $2, now(), now())`,
    [endpointId, sealSigningSecret(secretBox, `whsec_${"A".repeat(32)}`, { tenantId, endpointId })],
  );
  await seedEvents(database.pool, { endpoint: endpointId, count });
  return endpointId;
}

function asked(endpointId: EndpointId | null, more: Partial<ReplayRequest> = {}): ReplayRequest {
  const range = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
  return { endpointId, ...range, selection: "failed", eventType: null, cause: null, ...more };
}

const runAnother = (endpointId: EndpointId) =>
  sql(
    `INSERT INTO postern.replays (tenant_id, id, endpoint_id, from_at, to_at, selection, counted, is_capped,
        after_event_id, counted_to)
      SELECT 'acme', gen_random_uuid(), $1, now() - interval '1 h', now(), 'all', 0, false, id, id
      FROM (SELECT gen_random_uuid() AS id) AS given`,
    [endpointId],
  );

const wrong = (path: string, message: string) => ({ path: [path], message, code: "custom" });

const audited = async () =>
  (await sql("SELECT action, endpoint_id, details FROM postern.audit_log ORDER BY id")).rows;

describe("a request for a replay", () => {
  it("is a running replay with what was counted, and its entry in the audit log says what was asked for", async () => {
    const endpointId = await failing(3);
    const request = asked(endpointId, { eventType: "invoice.*", cause: "http_500" });
    const { id, createdAt, to, ...rest } = await replays.request(ADA, request);
    assert.ok(to.getTime() <= createdAt.getTime() + 1 && to < request.to);
    assert.deepEqual(rest, {
      tenantId,
      endpointId,
      from: request.from,
      selection: "failed",
      eventType: "invoice.*",
      cause: "http_500",
      status: "running",
      error: null,
      counted: 3,
      isCapped: false,
      sent: 0,
      skipped: 0,
      delivered: 0,
      failed: 0,
      finishedAt: null,
    });
    const details = {
      replay_id: id,
      from: request.from.toISOString(),
      to: to.toISOString(),
      select: "failed",
      event_type: "invoice.*",
      cause: "http_500",
      count: 3,
    };
    assert.deepEqual(await audited(), [
      { action: "replay.requested", endpoint_id: endpointId, details: { ...details } },
    ]);
  });

  it("is refused before anything is counted where one runs, or too many do", async () => {
    const endpointId = await failing();
    meanwhile = () => assert.fail("counted");
    await runAnother(endpointId);
    await assert.rejects(replays.request(ADA, asked(endpointId)), { code: "replay_running" });
    const other = await failing();
    for (let running = 1; running < MAX_RUNNING_REPLAYS; running++) await runAnother(newEndpointId());
    await assert.rejects(replays.request(ADA, asked(other)), { code: "replay_limit_reached" });
  });

  it("is refused where another one came while it counted", async () => {
    const endpointId = await failing();
    meanwhile = async () => {
      meanwhile = async () => undefined;
      await runAnother(endpointId);
    };
    await assert.rejects(replays.request(ADA, asked(endpointId)), { code: "replay_running" });
    assert.deepEqual(await audited(), []);
  });

  it("is refused where its endpoint was disabled or deleted while it counted", async () => {
    for (const [change, code] of [
      ["UPDATE postern.endpoints SET enabled = false, disabled_reason = 'manual'", "endpoint_disabled"],
      ["DELETE FROM postern.endpoints", "endpoint_not_found"],
    ] as const) {
      const endpointId = await failing();
      meanwhile = () => sql(change);
      await assert.rejects(replays.request(ADA, asked(endpointId)), { code });
    }
    assert.deepEqual((await sql("SELECT FROM postern.replays")).rows, []);
  });

  it("waits for events that are being stored, which its endpoint may not get and its pages would lack", async () => {
    const storing = await database.pool.connect();
    try {
      await storing.query("BEGIN");
      await storing.query(
        `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
          VALUES ('acme', postern.uuid_v7(), 'invoice.paid', '{}', 0)`,
      );
      const endpointId = await failing(0);
      let looks = 0;
      beforeLook = async () => {
        looks++;
        if (looks === 3) await storing.query("COMMIT");
      };
      const { to } = await replays.request(ADA, asked(endpointId, { selection: "missed" }));
      const { rowCount } = await sql("SELECT FROM postern.events WHERE id < postern.lowest_id_at($1)", [to]);
      assert.equal(rowCount, 1);
      assert.equal(looks, 3);
    } finally {
      storing.release(true);
    }
  });

  it("waits for no event that is stored from then on, and for none where it sends those that failed", async () => {
    const endpointId = await failing();
    await replays.request(ADA, asked(endpointId, { selection: "all" }));
    const other = await failing();
    beforeLook = () => assert.fail("looked");
    await replays.request(ADA, asked(other));
    await sql("DELETE FROM postern.replays");
    let looks = 0;
    const storing = await database.pool.connect();
    try {
      beforeLook = async () => looks++;
      meanwhile = async () => {
        meanwhile = async () => undefined;
        await storing.query("BEGIN; LOCK TABLE postern.events IN ROW EXCLUSIVE MODE");
      };
      await replays.request(ADA, asked(other, { selection: "all" }));
      assert.equal(looks, 1);
    } finally {
      storing.release(true);
    }
  });

  it("may span 31 days to the millisecond, and needs a beginning before its end", async () => {
    const endpointId = await failing();
    const to = new Date();
    const from = (ms: number) => new Date(to.getTime() - ms);
    const early = wrong("from", "must be before to, and in the past");
    const issuesOf = async (fromAt: Date, toAt = to) =>
      replays.count(tenantId, asked(endpointId, { from: fromAt, to: toAt })).then(
        () => null,
        ({ code, issues }) => [code, issues],
      );
    assert.equal(await issuesOf(from(MAX_REPLAY_RANGE_MS)), null);
    assert.deepEqual(await issuesOf(from(MAX_REPLAY_RANGE_MS + 1)), [
      "validation_failed",
      [wrong("to", "must be within 31 days")],
    ]);
    assert.equal(await issuesOf(from(1)), null);
    assert.deepEqual(await issuesOf(to), ["validation_failed", [early]]);
    const tomorrow = new Date(to.getTime() + 86_400_000);
    assert.deepEqual(await issuesOf(tomorrow, new Date(tomorrow.getTime() + 1)), [
      "validation_failed",
      [early],
    ]);
  });
});

describe("canceling a replay", () => {
  it("takes back what no worker has, and is in the audit log", async () => {
    const endpointId = await failing();
    const { id } = await replays.request(ADA, asked(endpointId));
    await sql("UPDATE postern.replays SET sent = 5");
    await sql(
      `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at,
          once, parked, replay_id, lease_owner)
        SELECT 'acme', $1, postern.uuid_v7(), postern.uuid_v7(), 'invoice.paid', 2, now(), now(), true, true, $2, owner
        FROM unnest(ARRAY[NULL, NULL, gen_random_uuid()]) AS owner`,
      [endpointId, id],
    );
    const { status, sent, finishedAt } = await replays.cancel(ADA, id);
    assert.deepEqual([status, sent], ["canceled", 3]);
    assert.ok(finishedAt instanceof Date);
    await assert.rejects(replays.cancel(ADA, id), { code: "replay_not_running" });
    assert.equal((await replays.get(tenantId, id)).sent, 3);
    assert.deepEqual((await audited()).slice(1), [
      { action: "replay.canceled", endpoint_id: endpointId, details: { replay_id: id } },
    ]);
  });

  it("finds none by another id, or by what is none", async () => {
    for (const id of [null, newReplayId()]) {
      await assert.rejects(replays.cancel(ADA, id), { code: "not_found" });
      await assert.rejects(replays.get(tenantId, id), { code: "not_found" });
    }
  });
});
