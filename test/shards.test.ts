/** Several databases: each tenant whole in one of them, seen from outside. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import * as z from "zod";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import type { ApiAnswer } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import {
  BACKEND,
  delivered,
  ok,
  owner,
  prepareShardTests,
  producer,
  publishArray,
  type ShardTests,
  newPortalCode,
  openPortal,
  usePortal,
} from "./support/shard-programs.ts";

let t: ShardTests;
before(async () => {
  t = await prepareShardTests();
});
afterEach(() => t.end());
after(() => t.close());

describe("two shards", () => {
  it("keep each tenant whole in its own: endpoints, events, the log, statistics", async () => {
    const program = await t.begin();
    for (const [shard, other] of [
      ["eu1", "eu2"],
      ["eu2", "eu1"],
    ] as const) {
      const tid = t.shards().newTenant(shard);
      const as = owner(tid);
      const { endpoint } = await createEndpoint(program, { url: `${t.receiver.url}/${tid}` }, { as });
      const { id, deliveries } = await publish(program, "invoice.paid", { as: producer(tid) });
      assert.equal(deliveries, 1);
      const [delivery] = await delivered(program, { tid, id: endpoint.id });
      assert.equal(delivery?.event_id, id);
      assert.equal(t.sentTo(tid), 1);
      const stats = await program.call("GET", "/api/stats/endpoints", { as });
      assert.equal(stats.status, 200, stats.text);
      const event = await program.call("GET", `/api/events/${id}`, { as });
      assert.equal(event.status, 200, event.text);
      for (const table of ["endpoints", "events", "deliveries", "audit_log", "shard_tenants"]) {
        const count = `SELECT FROM postern.${table} WHERE tenant_id = $1`;
        assert.ok((await t.rows(shard, count, [tid])).length > 0, `${table} in ${shard}`);
        assert.equal((await t.rows(other, count, [tid])).length, 0, `${table} in ${other}`);
      }
    }
  });

  it("serve retries, replays, sessions of the portal and the list of tenants, each from its tenant's shard", async () => {
    await t.prepare();
    // An automatic second attempt would be one more success.
    await t.start("worker", (env) => ({ ...env, RETRY_SCHEDULE: "0s" }));
    const program = await t.start("api");
    const tids = [t.shards().newTenant("eu1"), t.shards().newTenant("eu2")];
    for (const tid of tids) {
      const as = owner(tid);
      t.receiverFails(true);
      const url = `${t.receiver.url}/${tid}`;
      // Not what Postern tells of the failure.
      const { endpoint } = await createEndpoint(program, { url, events: ["invoice.paid"] }, { as });
      await publish(program, "invoice.paid", { as: producer(tid) });
      const [failed] = await eventually(async () => {
        const found = await listDeliveries(program, endpoint.id, "?status=failed", { as });
        return found.length > 0 && found;
      });
      t.receiverFails(false);
      await ok(
        program.call("POST", `/api/webhooks/${endpoint.id}/deliveries/${failed?.id}/retry`, { as }),
        200,
      );
      await delivered(program, { tid, id: endpoint.id });
      const from = new Date(Date.now() - 3_600_000).toISOString();
      const json = { endpoint_id: endpoint.id, from, to: new Date().toISOString(), select: "all" };
      await ok(program.call("POST", "/api/replays", { as, json }), 202);
      await delivered(program, { tid, id: endpoint.id }, 2);
      const code = await newPortalCode(program, tid);
      await usePortal(program, await openPortal(program, code), endpoint.id);
      await ok(openPortal(program, code), 401);
    }
    const list = await ok(program.call("GET", "/api/tenants", { as: BACKEND }), 200);
    assert.deepEqual(tenantIdsOf(list), tids.toSorted());
    const page = await ok(program.call("GET", "/api/tenants?limit=1", { as: BACKEND }), 200);
    assert.deepEqual(tenantIdsOf(page), tids.toSorted().slice(0, 1));
  });

  it("show and change nothing of a tenant to another's user", async () => {
    const program = await t.begin();
    const [one, other] = [t.shards().newTenant("eu1"), t.shards().newTenant("eu2")];
    const { endpoint } = await createEndpoint(program, { url: t.receiver.url }, { as: owner(one) });
    for (const [method, path] of [
      ["GET", `/api/webhooks/${endpoint.id}`],
      ["PATCH", `/api/webhooks/${endpoint.id}`],
      ["DELETE", `/api/webhooks/${endpoint.id}`],
    ] as const) {
      await ok(
        program.call(method, path, {
          as: owner(other),
          ...(method === "PATCH" && { json: { enabled: false } }),
        }),
        404,
      );
    }
    const foreign = { as: producer(other), json: { type: "invoice.paid", data: {}, tenant_id: one } };
    await ok(program.call("POST", "/api/events", foreign), 403);
    assert.deepEqual(await t.rows("eu2", "SELECT FROM postern.endpoints"), []);
    // What was refused is counted until the process ends, and then told to the tenant whose user it was.
    await program.end("SIGTERM");
    const told = "SELECT DISTINCT tenant_id FROM postern.audit_log WHERE action = 'access.refused'";
    assert.deepEqual(await t.rows("eu2", told), [{ tenant_id: other }]);
    assert.deepEqual(await t.rows("eu1", told), []);
  });

  it("find tenants where they are after a restart, whatever the weights are by then", async () => {
    const program = await t.begin();
    const tid = t.shards().newTenant("eu2");
    const { endpoint } = await createEndpoint(program, { url: t.receiver.url }, { as: owner(tid) });
    await program.end("SIGTERM");
    const SHARDS = t.shards().setting.replace("eu2=", "eu2*0=");
    const successor = await t.start("up", (env) => ({ ...env, SHARDS }));
    await publish(successor, "invoice.paid", { as: producer(tid) });
    await delivered(successor, { tid, id: endpoint.id });
    assert.deepEqual(await t.rows("eu1", "SELECT * FROM postern.shard_directory"), [
      { tenant_id: tid, shard: "eu2", version: 1 },
    ]);
    const late = await createEndpoint(
      successor,
      { url: t.receiver.url },
      { as: owner(t.shards().newTenant("eu2")) },
    );
    assert.equal(
      (await t.rows("eu1", "SELECT FROM postern.endpoints WHERE id = $1", [late.endpoint.id])).length,
      1,
    );
  });
});

describe("a tenant that has moved to another shard", () => {
  it("is found there by a process that knew it here, which asks the directory anew", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    // What a move ends with, of a tenant whose rows are there already.
    await t.rows("eu1", "UPDATE postern.shard_tenants SET fenced = true WHERE tenant_id = $1", [one.tid]);
    await ok(program.call("GET", "/api/webhooks", { as: owner(one.tid) }), 503);
    const json = { type: "invoice.paid", data: {} };
    const keyed = { ...json, id: "key" };
    const refused = await ok(
      program.call("POST", "/api/events", { as: producer(one.tid), json: keyed }),
      503,
    );
    assert.match(refused.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
    assert.deepEqual(refused.body, { error: "Service unavailable" });
    for (const shard of ["eu1", "eu2"]) {
      for (const table of ["events", "outbox", "handovers", "dispatches", "idempotency_keys"])
        assert.deepEqual(await t.rows(shard, `SELECT * FROM postern.${table}`), [], `${table} in ${shard}`);
    }
    await t.rows("eu2", "INSERT INTO postern.shard_tenants VALUES ($1, 2, false)", [one.tid]);
    await t.rows(
      "eu1",
      "UPDATE postern.shard_directory SET shard = 'eu2', version = 2 WHERE tenant_id = $1",
      [one.tid],
    );
    // The same event is new, since nothing of it was kept.
    await ok(program.call("POST", "/api/events", { as: producer(one.tid), json: keyed }), 202);
    await ok(program.call("GET", "/api/webhooks", { as: owner(one.tid) }), 200);
    const count = "SELECT FROM postern.events WHERE tenant_id = $1";
    assert.equal((await t.rows("eu2", count, [one.tid])).length, 1);
    assert.equal((await t.rows("eu1", count, [one.tid])).length, 0);
  });
});

/** Counted by a process whatever its databases are. */
const OF_PROCESS = /^(nodejs|process|http_server|webhook_catalog|webhook_intake)_/;

describe("/metrics with shards", () => {
  it("has each family once, and the shard as a label of all but the process's own", async () => {
    const program = await t.begin();
    const { one, other } = await t.twoEndpoints(program);
    for (const endpoint of [one, other]) {
      await publish(program, "invoice.paid", { as: producer(endpoint.tid) });
      await delivered(program, endpoint);
    }
    const { text } = await ok(program.call("GET", "/metrics", { as: null }), 200);
    const families = text.match(/^# HELP \S+/gm) ?? [];
    assert.equal(new Set(families).size, families.length);
    const shardsOf = new Map<string, Set<string>>();
    for (const [, name = "", labels = ""] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)) {
      const shard = /(?:^|,)shard="([^"]*)"/.exec(labels)?.[1] ?? "none";
      shardsOf.set(name, (shardsOf.get(name) ?? new Set()).add(shard));
    }
    for (const [name, shards] of shardsOf) {
      const known = OF_PROCESS.test(name) ? ["none"] : ["eu1", "eu2"];
      assert.deepEqual(
        [...shards].filter((shard) => !known.includes(shard)),
        [],
        name,
      );
    }
    const inBoth = [...shardsOf.values()].filter(({ size }) => size === 2);
    assert.ok(inBoth.length > 20, text);
    // Gauges are measured in each as they are asked for.
    await t.rows(
      "eu2",
      `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
        VALUES ($1, $2, postern.uuid_v7(), postern.uuid_v7(), 'invoice.paid', 2, now() + interval '1 day',
          now() + interval '1 day')`,
      [other.tid, other.id],
    );
    await eventually(async () => {
      const shown = (await ok(program.call("GET", "/metrics", { as: null }), 200)).text;
      const scheduled = shown.match(/^webhook_queue_depth\{.*state="scheduled".*$/gm) ?? [];
      return scheduled.some((line) => line.includes('shard="eu2"') && line.endsWith(" 1"));
    });
  });
});

describe("postern up --workers with shards", () => {
  it("runs workers that each serve both", async () => {
    await t.prepare();
    const program = await t.start(["up", "--workers", "2"]);
    for (const shard of ["eu1", "eu2"]) {
      await eventually(async () => {
        const parts = await t.rows(
          shard,
          `SELECT count(*)::int AS count FROM postern.slots s JOIN postern.workers w ON w.first_lease_id = s.owner
            GROUP BY s.owner`,
        );
        return parts.map(({ count }) => Number(count)).join() === "128,128";
      });
    }
    const { one, other } = await t.twoEndpoints(program);
    for (const endpoint of [one, other]) {
      const events = Array<string>(20).fill(endpoint.tid);
      await publishArray(program, events);
      await delivered(program, endpoint, events.length);
    }
  });
});

function tenantIdsOf({ body }: ApiAnswer): string[] {
  return z
    .object({ tenants: z.array(z.object({ id: z.string() })) })
    .parse(body)
    .tenants.map(({ id }) => id);
}
