/** Watching the log: who is told what, how much at once, and what a stream says that missed something. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { listedDeliveryObject } from "../src/api/schemas.ts";
import { publishMany } from "./support/api.ts";
import { MEMBER, OTHER_OWNER, OWNER, PRODUCER, type Claims } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { callWith, openPortal } from "./support/portal.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { endSessions } from "./support/sessions.ts";
import { assertRefused, issuesOf, REFUSED, webhooksOf } from "./support/webhooks.ts";

const gap = z.strictObject({ skipped: z.number().nullable() });
type Delivery = z.infer<typeof listedDeliveryObject>;

/** One process accepts and is watched, another makes the attempts. */
let api: TestService;
let worker: TestService;

before(async () => {
  api = await startTestService({
    roles: ["api"],
    respond: ({ path }) => ({ status: path.endsWith("/fail") ? 500 : 200 }),
  });
  const { database, receiver, env } = api;
  worker = await startTestService({ roles: ["worker"], database, receiver, env });
});
after(async () => {
  await worker.stop();
  await api.stop();
});

/** A stream that is read as it comes. */
async function watch(service: TestService, query = "", as: Claims = OWNER) {
  return watchWith(service, query, await service.token(as));
}

async function watchWith(service: TestService, query: string, token: string) {
  const stopping = new AbortController();
  const answer = await fetch(`${service.url}/api/deliveries/stream${query}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stopping.signal,
  });
  assert.equal(answer.status, 200);
  // Nothing between may keep it, or wait for more of it.
  const headers = ["content-type", "cache-control", "x-accel-buffering"].map((name) =>
    answer.headers.get(name),
  );
  assert.deepEqual(headers, ["text/event-stream", "no-store", "no"]);
  const deliveries: Delivery[] = [];
  const skipped: (number | null)[] = [];
  let comments = 0;
  const ended = read().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });

  async function read(): Promise<void> {
    let text = "";
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const messages = text.split("\n\n");
      text = messages.pop() ?? "";
      for (const message of messages) take(message);
    }
  }
  function take(message: string): void {
    if (message.startsWith(": ")) {
      comments++;
      return;
    }
    const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(message) ?? [];
    if (event === "gap") skipped.push(gap.parse(JSON.parse(data ?? "")).skipped);
    else deliveries.push(listedDeliveryObject.strict().parse(JSON.parse(data ?? "")));
  }

  await eventually(async () => comments > 0);
  return {
    deliveries,
    skipped,
    comments: () => comments,
    ended,
    close: () => stopping.abort(),
  };
}

async function publish(count = 1): Promise<void> {
  await publishMany(api, "invoice.paid", count);
}

describe("a stream of the log", () => {
  it("has each attempt that fits, tests and manual retries too, and none of another tenant", async () => {
    const webhooks = webhooksOf(api);
    const { endpoint: good } = await webhooks.create({ events: ["invoice.paid"] });
    const { endpoint: bad } = await webhooks.create({
      url: `${api.receiver.url}/fail`,
      events: ["invoice.paid"],
    });
    const all = await watch(api);
    const failures = await watch(api, "?status=failed", MEMBER);
    const one = await watch(api, `?endpoint_id=${good.id}`);
    const other = await watch(api, "", OTHER_OWNER);
    await publish();
    await eventually(async () => all.deliveries.length === 2);
    const [failed] =
      failures.deliveries.length === 1
        ? failures.deliveries
        : await eventually(async () => failures.deliveries.length === 1 && failures.deliveries);
    assert.equal(failed?.endpoint_id, bad.id);
    assert.equal("request_body" in failed, false);
    await webhooks.retry(bad.id, failed.id);
    await webhooks.test(good.id, "invoice.paid");
    await eventually(async () => all.deliveries.length === 4 && failures.deliveries.length === 2);
    await eventually(async () => one.deliveries.length === 2);
    assert.deepEqual(one.deliveries.map(({ status }) => status).toSorted(), ["delivered", "test"]);
    const logged = await webhooks.deliveries(bad.id, "?status=failed");
    assert.deepEqual(
      failures.deliveries.map(({ id }) => id).toSorted(),
      logged.map(({ id }) => id).toSorted(),
    );
    assert.deepEqual(other.deliveries, []);
    for (const stream of [all, failures, one, other]) stream.close();
    await webhooks.remove(good.id);
    await webhooks.remove(bad.id);
  });

  it("says how many it skipped in a burst, and notes nothing once nobody watches", async () => {
    const webhooks = webhooksOf(api);
    const { endpoint } = await webhooks.create({ events: ["invoice.paid"] });
    const stream = await watch(api);
    // In one statement: attempts of a busy machine may come so slowly that none is skipped.
    await api.database.pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
          request_headers, latency_ms)
        SELECT 'acme', $1, postern.uuid_v7(), gen_random_uuid(), 'invoice.paid', 'event', 'delivered', 1, '{}', 5
        FROM generate_series(1, 400)`,
      [endpoint.id],
    );
    const told = (): number =>
      stream.skipped.reduce<number>((sum, count) => sum + (count ?? 0), stream.deliveries.length);
    await eventually(async () => told() >= 400);
    assert.equal(told(), 400);
    assert.ok(stream.skipped.length > 0 && stream.deliveries.length >= 10);
    stream.close();
    await eventually(async () => {
      const { rows } = await api.database.pool.query("SELECT FROM postern.log_watches");
      return rows.length === 0;
    });
    await webhooks.remove(endpoint.id);
  });

  it("says that it missed something when its connection to the database was lost", async () => {
    const stream = await watch(api);
    await endSessions(api.database.pool, { statement: "LISTEN %postern_log%" });
    await eventually(async () => stream.skipped.includes(null));
    stream.close();
  });

  it("is refused to an eleventh of a tenant, until one of the ten ends", async () => {
    // Of its own: the end of an earlier test's stream may be noticed later.
    const as = { ...OWNER, tid: "crowded" };
    const streams = await Promise.all(Array.from({ length: 10 }, () => watch(api, "", as)));
    const refused = await api.call("GET", "/api/deliveries/stream", { as });
    assert.equal(refused.status, 429, refused.text);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    const other = await watch(api, "", OTHER_OWNER);
    streams[0]?.close();
    const next = await eventually(async () => watch(api, "", as).catch(() => null));
    for (const stream of [...streams, other, next]) stream.close();
  });

  it("is for a tenant's users, and tells a wrong filter", async () => {
    const path = "/api/deliveries/stream";
    assertRefused(await api.call("GET", path, { as: null }), REFUSED.unauthorized);
    assertRefused(await api.call("GET", path, { as: PRODUCER }), REFUSED.unauthorized);
    const without: Claims = { type: "user", tid: "acme", sub: "x", permissions: [] };
    assertRefused(await api.call("GET", path, { as: without }), REFUSED.forbidden);
    const pending = await api.call("GET", `${path}?status=pending`);
    assert.match(issuesOf(pending, "Invalid query")["status"] ?? "", /delivered/);
    const malformed = await api.call("GET", `${path}?endpoint_id=x`);
    assert.match(issuesOf(malformed, "Invalid query")["endpoint_id"] ?? "", /endpoint's id/);
    assert.equal((await api.call("HEAD", path)).status, 200);
  });
});

describe("a process with open streams", () => {
  it("pings them, ends them after their time or their session's, and ends them when it stops", async () => {
    const service = await startTestService({ roles: ["api"], httpLimits: { streamLifeMs: 300 } });
    const short = await watch(service);
    await short.ended;
    await service.stop();
    const long = await startTestService({ roles: ["api"], httpLimits: { streamPingMs: 20 } });
    const stream = await watch(long);
    await eventually(async () => stream.comments() > 2);
    const { token: revoked } = await openPortal(long);
    const other = await watchWith(long, "", revoked);
    assertRefused(await callWith(long, revoked, ["DELETE", "/api/portal/sessions"]), [200, { ok: true }]);
    await other.ended;
    const count = stream.comments();
    await eventually(async () => stream.comments() > count + 2);
    await long.stop();
    await stream.ended;
  });
});
