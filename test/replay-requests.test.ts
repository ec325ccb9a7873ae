/** Who may ask for replays, by what, and what is refused before anything changes. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { pullDispatches } from "../src/queue/postgres/claim-store.ts";
import { parseEndpointId, parseTenantId } from "../src/shared/id.ts";
import { range, replaysOf, seedEvents, type Replays } from "./support/replays.ts";
import { MEMBER, OTHER_OWNER, PRODUCER, type CallOptions } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  issuesOf,
  REFUSED,
  UNKNOWN_ID,
  webhooksOf,
  type Webhooks,
} from "./support/webhooks.ts";

const NOT_RUNNING = [409, { error: "The replay is not running" }] as const;
const DAY = 86_400_000;

let service: TestService;
let webhooks: Webhooks;
let replays: Replays;
let endpointId: string;

before(async () => {
  // Without a worker every replay stays as it was asked for.
  service = await startTestService({
    refusesAsDocumented: true,
    roles: ["api"],
    env: { RATE_LIMIT_DISPATCHES: "0" },
  });
  webhooks = webhooksOf(service);
  replays = replaysOf(service);
  endpointId = (await webhooks.create()).endpoint.id;
  await seedEvents(service.database.pool, { endpoint: endpointId, count: 3 });
});
after(() => service.stop());

const post = (json: unknown, options: CallOptions = {}) => replays.call("POST", "", { json, ...options });
/** One moment for all: an equal from and to stay equal. */
const now = Date.now();
const daysAgo = (days: number) => new Date(now - days * DAY).toISOString();

async function counts(): Promise<unknown[]> {
  const { rows } = await service.database.pool.query(
    `SELECT (SELECT count(*) FROM postern.replays) AS replays,
      (SELECT count(*) FROM postern.audit_log WHERE action LIKE 'replay.%') AS entries`,
  );
  return rows;
}

describe("POST /api/replays", () => {
  const invalid: [Record<string, unknown>, string][] = [
    [{ from: daysAgo(1), to: daysAgo(2) }, "from"],
    [{ from: daysAgo(1), to: daysAgo(1).replace("Z", "+00:00") }, "from"],
    [{ from: daysAgo(-1), to: daysAgo(-2) }, "from"],
    [{ from: daysAgo(32), to: daysAgo(0.5) }, "to"],
    [{ from: daysAgo(40), to: daysAgo(-1) }, "to"],
    [{ from: "2026-01-31" }, "from"],
    [{ to: 7 }, "to"],
    [{ select: "newest" }, "select"],
    [{ select: "missed", cause: "timeout" }, "cause"],
    [{ cause: "x".repeat(257) }, "cause"],
    [{ cause: "" }, "cause"],
    [{ cause: "http_5xx" }, "cause"],
    [{ event_type: "a\u0000" }, "event_type"],
    [{ event_type: "*" }, "event_type"],
    [{ event_type: "invoice.paid@1" }, "event_type"],
    [{ endpoint_id: 7 }, "endpoint_id"],
    [{ endpoint_id: undefined }, "endpoint_id"],
    [{ dry_run: "yes" }, "dry_run"],
    [{ dryRun: true }, "dryRun"],
    [{ colour: "red" }, ""],
  ];
  for (const [given, path] of invalid) {
    it(`answers Validation failed to ${JSON.stringify(given).slice(0, 70)}`, async () => {
      const earlier = await counts();
      const json = { ...range(), endpoint_id: endpointId, ...given };
      for (const more of [{}, ...("dry_run" in given ? [] : [{ dry_run: true }])]) {
        const found = issuesOf(await post({ ...json, ...more }));
        assert.ok(path in found, JSON.stringify(found));
      }
      assert.deepEqual(await counts(), earlier);
    });
  }

  it("answers Invalid query to dry_run in the query, where the body has none", async () => {
    const earlier = await counts();
    const json = { ...range(), endpoint_id: endpointId };
    const answer = await service.call("POST", "/api/replays?dry_run=true", { json });
    assert.deepEqual(issuesOf(answer, "Invalid query"), {
      dry_run: "dry_run is a member of the body",
    });
    assert.deepEqual(await counts(), earlier);
  });

  it("takes 31 days, and an end to come as now", async () => {
    const { count } = await replays.count({
      endpoint_id: endpointId,
      from: daysAgo(31 - 0.01),
      to: daysAgo(-100),
    });
    assert.equal(count, 3);
  });

  it("does not find an endpoint that is deleted, another tenant's, unknown or malformed", async () => {
    const gone = (await webhooks.create()).endpoint.id;
    await webhooks.remove(gone);
    const earlier = await counts();
    for (const dry_run of [true, false]) {
      for (const endpoint_id of [gone, UNKNOWN_ID, "x", ""]) {
        assertRefused(await post({ ...range(), endpoint_id, dry_run }), REFUSED.endpointNotFound);
      }
      const json = { ...range(), endpoint_id: endpointId, dry_run };
      assertRefused(await post(json, { as: OTHER_OWNER }), REFUSED.endpointNotFound);
    }
    assert.deepEqual(await counts(), earlier);
  });

  it("refuses a disabled endpoint, and one whose secret does not open", async () => {
    const disabled = (await webhooks.create({ enabled: false })).endpoint.id;
    const unusable = (await webhooks.create()).endpoint.id;
    await service.database.pool.query("UPDATE postern.endpoints SET secret = 'x' WHERE id = $1", [unusable]);
    const earlier = await counts();
    const answers: [string, readonly [number, object]][] = [
      [disabled, [409, { error: "Endpoint is disabled" }]],
      [unusable, [500, { error: "The endpoint's signing secret cannot be decrypted" }]],
    ];
    for (const [endpoint_id, refusal] of answers) {
      for (const dry_run of [true, false])
        assertRefused(await post({ ...range(), endpoint_id, dry_run }), refusal);
    }
    assert.deepEqual(await counts(), earlier);
  });

  it("checks the session, the permission and the size before the body", async () => {
    const raw = "x".repeat(1024 * 1024 + 1);
    for (const path of ["", `/${UNKNOWN_ID}/cancel`]) {
      for (const as of [null, PRODUCER])
        assertRefused(await replays.call("POST", path, { as, raw }), REFUSED.unauthorized);
      assertRefused(await replays.call("POST", path, { as: MEMBER, raw }), REFUSED.forbidden);
      assertRefused(await replays.call("POST", path, { raw }), REFUSED.tooLarge);
    }
    for (const json of [[], null, "x"]) issuesOf(await post(json));
    assertRefused(await replays.call("PUT", ""), REFUSED.methodNotAllowed);
    assertRefused(await replays.call("GET", `/${UNKNOWN_ID}/cancel`), REFUSED.methodNotAllowed);
  });
});

describe("the queue beside a replay", () => {
  it("gives what is fresh first, then what is replayed, each the oldest first", async () => {
    const { endpoint } = await webhooks.create();
    const { pool } = service.database;
    const replayed = await seedEvents(pool, { endpoint: endpoint.id, count: 2 });
    const fresh = await seedEvents(pool, { endpoint: null, count: 2 });
    const park = (events: string[], replayId: string | null, dueInS: number) =>
      pool.query(
        `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at,
            parked, once, replay_id)
          SELECT 'acme', $1, postern.uuid_v7(), id, 'invoice.paid', 1, now() + $4 * interval '1 s', now(), true, true, $3
          FROM unnest($2::uuid[]) AS id`,
        [endpoint.id, events, replayId, dueInS],
      );
    await park(replayed, UNKNOWN_ID, -60);
    await park(fresh, null, 0);
    const [tenantId, endpointId] = [parseTenantId("acme"), parseEndpointId(endpoint.id)];
    assert.ok(tenantId !== null && endpointId !== null);
    const pulled: unknown[] = [];
    for (let n = 0; n < 4; n++) {
      const ask = { tenantId, endpointId, dispatches: 1, bodyBytes: 1e6 };
      const answer = (await pullDispatches(pool, randomUUID(), [ask])).get(endpointId);
      pulled.push(...(answer?.claimed ?? []).map(({ eventId }) => eventId));
    }
    assert.deepEqual(pulled, [...fresh, ...replayed]);
  });
});

describe("the replays of a tenant", () => {
  it("are listed newest first in pages, shown, and canceled once", async () => {
    const made: string[] = [];
    for (let n = 0; n < 3; n++) {
      const { endpoint } = await webhooks.create();
      await seedEvents(service.database.pool, { endpoint: endpoint.id, count: n });
      made.unshift((await replays.create({ endpoint_id: endpoint.id })).id);
    }
    const all = await replays.list();
    assert.deepEqual(
      all.map(({ id, status, total }) => [id, status, total]),
      made.map((id, place) => [id, "running", 2 - place]),
    );
    const page = await replays.call("GET", "?limit=2");
    assert.match(page.headers.get("link") ?? "", new RegExp(`before=${made[1]}>; rel="next"`));
    assert.deepEqual(
      (await replays.list(`?limit=2&before=${made[1]}`)).map(({ id }) => id),
      [made[2]],
    );
    const [, second] = all;
    assert.deepEqual(await replays.list(`?endpoint_id=${second?.endpoint_id}&limit=1`), [second]);
    const full = await replays.call("GET", "?limit=3");
    assert.equal(full.headers.get("link"), null, "nothing is behind a full last page");
    const [id = ""] = made;
    assert.deepEqual(await replays.get(id), all[0]);
    assert.equal((await replays.call("GET", `/${id}`, { as: MEMBER })).status, 200);
    const { status, sent, finished_at } = await replays.cancel(id);
    assert.deepEqual([status, sent], ["canceled", 0]);
    assert.ok(finished_at !== null);
    assertRefused(await replays.call("POST", `/${id}/cancel`), NOT_RUNNING);
    const { rows } = await service.database.pool.query(
      "SELECT action FROM postern.audit_log WHERE details->>'replay_id' = $1 ORDER BY id",
      [id],
    );
    assert.deepEqual(rows, [{ action: "replay.requested" }, { action: "replay.canceled" }]);
  });

  it("are nobody else's, and unknown and malformed ids are not found", async () => {
    const { endpoint } = await webhooks.create();
    const { id } = await replays.create({ endpoint_id: endpoint.id });
    const other = replaysOf(service, OTHER_OWNER);
    assert.deepEqual(await other.list(), []);
    const paths: [string, string][] = [
      ["GET", ""],
      ["POST", "/cancel"],
    ];
    for (const [method, rest] of paths) {
      assertRefused(await other.call(method, `/${id}${rest}`), REFUSED.notFound);
      for (const unknown of [UNKNOWN_ID, "x", "%00"]) {
        assertRefused(await replays.call(method, `/${unknown}${rest}`), REFUSED.notFound);
      }
    }
    assert.equal((await replays.get(id)).status, "running");
    for (const path of ["", `/${id}`]) {
      assertRefused(await replays.call("GET", path, { as: null }), REFUSED.unauthorized);
      assertRefused(await replays.call("GET", path, { as: { ...MEMBER, role: "guest" } }), REFUSED.forbidden);
    }
    for (const query of ["?limit=0", "?limit=101", "?page=2", "?before=x"]) {
      issuesOf(await replays.call("GET", query), "Invalid query");
    }
  });
});
