/**
 * What must hold whatever people and producers do, in whatever order: the log has what the receiver got, events go
 * to those that were subscribed, and statistics, searches, exports and the audit log tell the same as the log.
 */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import * as z from "zod";
import { listedDeliveryObject } from "../src/api/schemas.ts";
import { createEndpoint, patchEndpoint } from "./support/api.ts";
import { auditAnswer } from "./support/audit.ts";
import { OWNER, PRODUCER, type CallOptions } from "./support/calls.ts";
import { randomFrom } from "./support/chance.ts";
import { eventually } from "./support/eventually.ts";
import { storageOf } from "./support/exports.ts";
import { range, replaysOf, type Replay } from "./support/replays.ts";
import { startTestService, type TestService } from "./support/service.ts";

const STEPS = 150;
const ATTEMPTS = 3;
const TYPES = ["invoice.paid", "invoice.created", "document.signed"];
const SUBSCRIPTIONS = [["invoice.*"], ["invoice.paid"], ["document.*"], TYPES];

type Endpoint = { id: string; path: string; events: string[]; enabled: boolean; isDeleted: boolean };
type Listed = z.infer<typeof listedDeliveryObject>;

const seed = Date.now() % 1_000_000;
const random = randomFrom(seed);
const chance = (share: number): boolean => random() < share;
const oneOf = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];

let service: TestService;
/** With the endpoints that each was for as it was published. */
const events = new Map<string, { type: string; targets: Set<string> }>();
const endpoints: Endpoint[] = [];
const replays: Replay[] = [];
const answered: { path: string; eventId: string; status: number }[] = [];
const done = new Map<string, number>();

before(async () => {
  service = await startTestService({
    env: { RETRY_SCHEDULE: "0s,200ms,200ms", RATE_LIMIT_DISPATCHES: "0", RATE_LIMIT_WRITES: "0" },
    respond({ path, headers }) {
      const status = chance(0.4) ? 500 : 200;
      if (headers["x-service-delivery"]?.includes("test-") !== true)
        answered.push({ path, eventId: String(headers["webhook-id"]), status });
      return { status };
    },
  });
});
after(() => service.stop());

const live = (): Endpoint[] => endpoints.filter(({ isDeleted }) => !isDeleted);
const count = (action: string): Map<string, number> => done.set(action, (done.get(action) ?? 0) + 1);
const fits = (patterns: readonly string[], type: string): boolean =>
  patterns.some((one) => (one.endsWith(".*") ? type.startsWith(one.slice(0, -1)) : type === one));

async function call(statuses: number[], method: string, path: string, options: CallOptions = {}) {
  const answer = await service.call(method, path, options);
  assert.ok(
    statuses.includes(answer.status),
    `seed ${seed}: ${method} ${path} ${answer.status} ${answer.text}`,
  );
  return answer;
}

const published = z.object({ id: z.string(), deliveries: z.number() });

/** Some with a key, some of which are repeated at once. */
async function publish(many: number): Promise<void> {
  const json = Array.from({ length: many }, () => {
    const id = chance(0.4) ? { id: `key ${random()}` } : {};
    return { type: oneOf(TYPES) ?? "", data: { n: random() }, ...id };
  });
  const answer = await call([202], "POST", "/api/events", { as: PRODUCER, json });
  for (const [place, { id, deliveries }] of z.array(published).parse(answer.body).entries()) {
    const { type = "" } = json[place] ?? {};
    const targets = live().filter((one) => one.enabled && fits(one.events, type));
    assert.equal(deliveries, targets.length, `seed ${seed}: ${type}`);
    assert.ok(!events.has(id));
    events.set(id, { type, targets: new Set(targets.map((one) => one.id)) });
    const event = json[place];
    if (event?.id === undefined) continue;
    const again = await call([200], "POST", "/api/events", { as: PRODUCER, json: event });
    assert.equal(published.parse(again.body).id, id);
    await call([409], "POST", "/api/events", { as: PRODUCER, json: { ...event, data: {} } });
  }
}

async function change(endpoint: Endpoint): Promise<void> {
  if (chance(0.5)) {
    endpoint.events = oneOf(SUBSCRIPTIONS) ?? [];
    await patchEndpoint(service, endpoint.id, { events: endpoint.events });
    count("endpoint.updated");
    return;
  }
  endpoint.enabled = !endpoint.enabled;
  await patchEndpoint(service, endpoint.id, { enabled: endpoint.enabled });
  count(endpoint.enabled ? "endpoint.enabled" : "endpoint.disabled");
}

async function retryOne({ id }: Endpoint): Promise<void> {
  const [failed] = await deliveries(`?status=failed&limit=1&endpoint_id=${id}`, 1);
  if (failed === undefined) return;
  // 409: its event is being sent.
  const { status } = await call([200, 409], "POST", `/api/webhooks/${id}/deliveries/${failed.id}/retry`);
  if (status === 200) count("delivery.retried");
}

async function replay({ id }: Endpoint): Promise<void> {
  const select = oneOf(["failed", "missed", "all"]);
  const json = { ...range(), endpoint_id: id, select };
  // 200: there is nothing to send. 409: one runs.
  const { status } = await call([200, 202, 409], "POST", "/api/replays", { json });
  if (status === 202) count("replay.requested");
}

async function act(): Promise<void> {
  const endpoint = oneOf(live());
  const wants = random();
  if (endpoint === undefined || (wants < 0.05 && live().length < 8)) {
    const url = new URL(`/${endpoints.length}`, service.receiver.url);
    const patterns = oneOf(SUBSCRIPTIONS) ?? [];
    const { id } = (await createEndpoint(service, { url: url.href, events: patterns })).endpoint;
    endpoints.push({ id, path: url.pathname, events: patterns, enabled: true, isDeleted: false });
    count("endpoint.created");
  } else if (wants < 0.5) await publish(1 + Math.floor(random() * 3));
  else if (wants < 0.65) await change(endpoint);
  else if (wants < 0.8) await retryOne(endpoint);
  else if (wants < 0.87) await replay(endpoint);
  else if (wants < 0.93) {
    const eventId = oneOf([...events.keys()]);
    const path = `/api/events/${eventId}/send`;
    if (eventId !== undefined) await call([202, 409], "POST", path, { json: { endpoint_id: endpoint.id } });
  } else if (wants < 0.98) {
    await call([200], "POST", `/api/webhooks/${endpoint.id}/rotate-secret`, { json: { grace_seconds: 60 } });
    count("secret.rotated");
  } else if (live().length > 2) {
    await call([200], "DELETE", `/api/webhooks/${endpoint.id}`);
    endpoint.isDeleted = true;
    count("endpoint.deleted");
  }
}

/** All that a search finds, by pages. */
async function deliveries(query: string, most = Infinity): Promise<Listed[]> {
  const found: Listed[] = [];
  for (let next: string | undefined = `/api/deliveries${query}`; next !== undefined && found.length < most;) {
    const answer = await call([200], "GET", next);
    found.push(...z.object({ deliveries: z.array(listedDeliveryObject) }).parse(answer.body).deliveries);
    const link: string | undefined = /<([^>]+)>; *rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
    next = link?.replace(service.url, "");
  }
  return found;
}

const pendingOf = z.object({ endpoints: z.array(z.object({ pending: z.number() })) });

/** Nothing is held any more, nothing is due, and no replay runs. */
async function comeToRest(): Promise<void> {
  for (const endpoint of live().filter(({ enabled }) => !enabled)) {
    await patchEndpoint(service, endpoint.id, { enabled: true });
    count("endpoint.enabled");
  }
  await eventually(async () => {
    const running = (await replaysOf(service).list("?limit=100")).some(({ status }) => status === "running");
    const { body } = await call([200], "GET", "/api/stats/endpoints?window=1h");
    return !running && pendingOf.parse(body).endpoints.every(({ pending }) => pending === 0);
  });
  await eventually(async () => (await deliveries("?status=pending")).length === 0);
  // Those of deleted endpoints too.
  const left = "SELECT FROM postern.dispatches WHERE NOT superseded LIMIT 1";
  await eventually(async () => (await service.database.pool.query(left)).rowCount === 0);
  replays.push(...(await replaysOf(service).list("?limit=100")));
}

const tally = (keys: readonly string[]): string[] => keys.toSorted();
const isAutomatic = ({ trigger }: Listed): boolean => trigger === "event" || trigger === "auto_retry";

function requireRequestsLogged(log: readonly Listed[]): void {
  for (const { id, path, isDeleted } of endpoints) {
    // An answer that comes behind the deletion is not logged.
    if (isDeleted) continue;
    const logged = log.filter((one) => one.endpoint_id === id && one.response_status !== null);
    const got = answered.filter((one) => one.path === path);
    assert.deepEqual(
      tally(logged.map((one) => `${one.event_id} ${one.response_status}`)),
      tally(got.map(({ eventId, status }) => `${eventId} ${status}`)),
      `seed ${seed}: ${path}`,
    );
  }
}

function requireEventsSent(log: readonly Listed[]): void {
  for (const [eventId, { targets }] of events) {
    for (const { id, isDeleted } of endpoints) {
      const told = `seed ${seed}: event ${eventId}, endpoint ${id}`;
      const rows = log.filter((one) => one.event_id === eventId && one.endpoint_id === id);
      const own = rows.filter(isAutomatic);
      const isDelivered = rows.some(({ status }) => status === "delivered");
      assert.ok(own.filter(({ status }) => status === "delivered").length <= 1, told);
      assert.ok(own.length <= ATTEMPTS, told);
      if (!targets.has(id)) assert.equal(own.length, 0, told);
      // What was in flight as its endpoint was deleted is not logged.
      else if (!isDeleted) assert.ok(own.length > 0 && (isDelivered || rows.length >= ATTEMPTS), told);
    }
  }
}

const totals = z.object({ buckets: z.array(z.object({ delivered: z.number(), failed: z.number() })) });

async function requireStatistics(log: readonly Listed[]): Promise<void> {
  for (const { id } of endpoints) {
    const { body } = await call([200], "GET", `/api/stats?bucket=1d&endpoint_id=${id}`);
    const { buckets } = totals.parse(body);
    const sums = (["delivered", "failed"] as const).map((status) => [
      buckets.reduce((sum, bucket) => sum + bucket[status], 0),
      log.filter((one) => one.endpoint_id === id && one.status === status).length,
    ]);
    for (const [told, logged] of sums) assert.equal(told, logged, `seed ${seed}: endpoint ${id}`);
  }
}

async function requireSearches(log: readonly Listed[]): Promise<void> {
  const [one] = log;
  assert.ok(one !== undefined);
  for (const [query, isFound] of [
    ["status=delivered", ({ status }) => status === "delivered"],
    [
      "status=failed&event_type=invoice.*",
      (d) => d.status === "failed" && d.event_type.startsWith("invoice."),
    ],
    ["response_status=5xx", ({ response_status: status }) => status === 500],
    ["response_status=none", (d) => d.status === "failed" && d.response_status === null],
    ["trigger=retry", ({ trigger }) => trigger === "retry"],
    ["trigger=auto_retry", ({ trigger }) => trigger === "auto_retry"],
    [`event_id=${one.event_id}`, (d) => d.event_id === one.event_id],
    [
      `endpoint_id=${one.endpoint_id}&before=${one.id}`,
      (d) => d.endpoint_id === one.endpoint_id && d.id < one.id,
    ],
  ] as [string, (delivery: Listed) => boolean][]) {
    const found = await deliveries(`?limit=40&${query}`);
    assert.deepEqual(
      found.map(({ id }) => id),
      log.filter(isFound).map(({ id }) => id),
      `seed ${seed}: ${query}`,
    );
  }
}

async function requireAudited(): Promise<void> {
  const told = new Map<string, number>();
  for (let before = ""; ;) {
    const { body } = await call([200], "GET", `/api/audit?limit=100${before}`, { as: OWNER });
    const { entries } = auditAnswer.parse(body);
    for (const { action } of entries) told.set(action, (told.get(action) ?? 0) + 1);
    const last = entries.at(-1);
    if (last === undefined) break;
    before = `&before=${last.id}`;
  }
  for (const [action, times] of done) assert.equal(told.get(action), times, `seed ${seed}: ${action}`);
}

it("keeps the log, statistics, searches, replays, exports and the audit log the same as what was done", async () => {
  for (let step = 0; step < STEPS; step++) await act();
  await comeToRest();
  const log = await deliveries("?limit=100");
  requireRequestsLogged(log);
  requireEventsSent(log);
  await requireStatistics(log);
  await requireSearches(log);
  await requireAudited();
  for (const { id, status, delivered, failed, sent } of replays) {
    if (status !== "finished") continue;
    const rows = log.filter((one) => one.replay_id === id);
    assert.deepEqual([rows.length, delivered + failed], [sent, sent], `seed ${seed}: replay ${id}`);
  }
  const storage = storageOf(service);
  const { progress } = await storage.waitFor(await storage.request());
  assert.equal(progress.rows_done, log.length, `seed ${seed}`);
});
