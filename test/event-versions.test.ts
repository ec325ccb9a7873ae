/** Versions of an event type: who gets which, from publishing to the log, and whatever is sent again. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { ndjsonRows, storageOf, unpack } from "./support/exports.ts";
import { clientOf } from "./support/pull.ts";
import { range, replaysOf } from "./support/replays.ts";
import { OTHER_OWNER, PRODUCER, type ApiAnswer } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { assertRefused, issuesOf, REFUSED, webhooksOf } from "./support/webhooks.ts";

const text = "  title: T\n  description: D\n  group: G\n";
const CATALOG = `
- type: invoice.paid
${text}  payloadShape: { amount: 1 }
  schema: { type: object, required: [amount], properties: { amount: { type: integer } } }
  deprecated: true
  deprecated_since: 2031-01-01T00:00:00Z
  sunset: 2031-07-01T12:00:00+02:00
- type: invoice.paid
  version: 2
${text}  payloadShape: { total: { amount: 1 } }
  schema: { type: object, required: [total] }
- type: invoice.paid
  version: 3
  preview: true
${text}  payloadShape: { totals: [] }
- type: order.placed
${text}  payloadShape: {}
`;
const V1 = { amount: 12 };
const V2 = { total: { amount: 12 } };
const V3 = { totals: [12] };

type Sent = { path: string; id: string; type: string; body: string; data: unknown };

let service: TestService;
let folder: string;
let failing = new Set<string>();

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-versions-"));
  const file = join(folder, "catalog.yaml");
  await writeFile(file, CATALOG);
  service = await startTestService({
    env: { EVENT_CATALOG: file, RETRY_SCHEDULE: "0s,1s", RATE_LIMIT_WRITES: "1000", DATA_DIR: folder },
    respond: ({ path }) => ({ status: failing.has(path) ? 500 : 200 }),
  });
});
after(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

async function endpointAt(path: string, events: string[], as?: typeof OTHER_OWNER) {
  const url = `${new URL(service.receiver.url).origin}${path}`;
  return (await webhooksOf(service, as).create({ url, events })).endpoint;
}

const published = (event: Record<string, unknown>): Promise<ApiAnswer> =>
  service.call("POST", "/api/events", { as: PRODUCER, json: { type: "invoice.paid", ...event } });

async function publish(event: Record<string, unknown>): Promise<{ id: string; deliveries: number }> {
  const answer = await published(event);
  assert.equal(answer.status, 202, answer.text);
  return JSON.parse(answer.text);
}

/** What came at the path, of one event if it is named. */
function sentTo(path: string, eventId?: string): Sent[] {
  return service.receiver.requests
    .filter((request) => request.path === path)
    .map(({ headers, body }) => ({
      path,
      id: String(headers["webhook-id"]),
      type: String(headers["x-service-event"]),
      body: body.toString(),
      data: JSON.parse(body.toString()).data,
    }))
    .filter(({ id }) => eventId === undefined || id === eventId);
}

const arrived = (path: string, eventId: string, count = 1) =>
  eventually(async () => sentTo(path, eventId).length === count && sentTo(path, eventId));

describe("an event of a type with versions", () => {
  it("goes to each endpoint once, as the version that it names, or as the newest that is no preview", async () => {
    const wanted: [string, string[], unknown][] = [
      ["/all", ["*"], V2],
      ["/prefix", ["invoice.*"], V2],
      ["/type", ["invoice.paid"], V2],
      ["/one", ["invoice.paid@1"], V1],
      ["/two", ["invoice.paid@2"], V2],
      ["/preview", ["invoice.paid@3"], V3],
      ["/both", ["invoice.*", "invoice.paid@1", "order.placed@1"], V1],
    ];
    const endpoints = await Promise.all(wanted.map(([path, events]) => endpointAt(path, events)));
    await endpointAt("/other", ["*", "invoice.paid@1"], OTHER_OWNER);
    await endpointAt("/orders", ["order.placed"]);
    const event = await publish({ data: V2, versions: { "1": V1, "3": V3 } });
    assert.equal(event.deliveries, wanted.length);
    for (const [index, [path, , data]] of wanted.entries()) {
      const [sent] = await arrived(path, event.id);
      assert.deepEqual([sent?.data, sent?.type], [data, "invoice.paid"], path);
      assert.equal(JSON.parse(sent?.body ?? "").event, "invoice.paid");
      const { id } = endpoints[index] ?? { id: "" };
      const [logged] = await webhooksOf(service).waitFor(id, "delivered");
      const version = data === V1 ? 1 : data === V2 ? 2 : 3;
      assert.deepEqual(
        [logged?.event_type, logged?.event_version, logged?.request_body],
        ["invoice.paid", version, sent?.body],
        path,
      );
    }
    assert.deepEqual([sentTo("/other"), sentTo("/orders")], [[], []]);
    for (const [type, found] of [
      ["invoice.paid", 7],
      ["invoice.paid@1", 2],
      ["invoice.paid@2", 4],
      ["invoice.paid@4", 0],
    ]) {
      const log = await service.call("GET", `/api/deliveries?event_id=${event.id}&event_type=${type}`);
      assert.equal(JSON.parse(log.text).deliveries.length, found, String(type));
    }
    const answer = await service.call("GET", `/api/events/${event.id}`);
    const story = JSON.parse(answer.text).event;
    assert.equal(story.version, 2);
    assert.deepEqual(JSON.parse(story.body).data, V2);
    assert.deepEqual(
      Object.entries<string>(story.versions).map(([version, body]) => [version, JSON.parse(body).data]),
      [
        ["1", V1],
        ["3", V3],
      ],
    );
    const without = await publish({ data: V2, versions: { "1": V1 } });
    assert.equal(without.deliveries, wanted.length - 1);
    for (const { id } of endpoints) await webhooksOf(service).remove(id);
  });

  it("is tried again, retried, sent again and replayed with the same bytes, whatever the endpoint names by then", async () => {
    failing = new Set(["/again"]);
    const { id } = await endpointAt("/again", ["invoice.paid@1"]);
    const event = await publish({ data: V2, versions: { "1": V1 } });
    await webhooksOf(service).update(id, { events: ["invoice.paid@2"] });
    const [failed] = await webhooksOf(service).waitFor(id, "failed", 2);
    assert.ok(failed !== undefined);
    await webhooksOf(service).retry(id, failed.id);
    const again = await service.call("POST", `/api/events/${event.id}/send`, { json: { endpoint_id: id } });
    assert.equal(again.status, 202, again.text);
    const { delivery } = JSON.parse(again.text);
    assert.deepEqual([delivery.event_version, JSON.parse(delivery.request_body).data], [1, V1]);
    await webhooksOf(service).waitFor(id, "failed", 4);
    failing = new Set();
    const replays = replaysOf(service);
    const replay = await replays.create({ endpoint_id: id, select: "failed" });
    await replays.waitForEnd(replay.id);
    const sent = await arrived("/again", event.id, 5);
    assert.equal(new Set(sent.map(({ body }) => body)).size, 1);
    const log = await webhooksOf(service).deliveries(id);
    assert.deepEqual(
      log.map(({ event_version: version, request_body: body }) => [version, body]),
      sent.map(({ body }) => [1, body]),
    );
    await webhooksOf(service).remove(id);
  });

  it("that an endpoint missed is replayed to it as the version that it names", async () => {
    const event = await publish({ data: V2, versions: { "1": V1 } });
    const endpoints = [
      await endpointAt("/missed/1", ["invoice.paid@1"]),
      await endpointAt("/missed/2", ["invoice.*"]),
      await endpointAt("/missed/3", ["invoice.paid@3"]),
    ];
    for (const { id } of endpoints) {
      const replays = replaysOf(service);
      const replay = await replays.create({ endpoint_id: id, select: "missed" });
      await replays.waitForEnd(replay.id);
    }
    assert.deepEqual((await arrived("/missed/1", event.id))[0]?.data, V1);
    assert.deepEqual((await arrived("/missed/2", event.id))[0]?.data, V2);
    assert.deepEqual(sentTo("/missed/3", event.id), []);
    for (const { id } of endpoints) await webhooksOf(service).remove(id);
  });

  it("is in exports and kept artifacts as it was sent", async () => {
    const settings = { keep_request_bodies: true, keep_response_bodies: false, artifact_days: 2 };
    await service.call("PUT", "/api/storage/settings", { json: settings });
    const { id } = await endpointAt("/exported", ["invoice.paid@1"]);
    const event = await publish({ data: V2, versions: { "1": V1 } });
    const [sent] = await arrived("/exported", event.id);
    await webhooksOf(service).waitFor(id, "delivered");
    const storage = storageOf(service);
    const archive = await storage.download(
      await storage.waitFor(
        await storage.request({ ...range(), to: new Date().toISOString(), endpoint_id: id }),
      ),
    );
    const [row] = ndjsonRows(await unpack(archive));
    assert.deepEqual([row?.["event_version"], row?.["request_body"]], [1, sent?.body]);
    const kept = await eventually(async () => {
      const { rows } = await service.database.pool.query<{ digest: string; expected: string }>(
        `SELECT o.sha256 AS digest, encode(sha256(convert_to($2, 'UTF8')), 'hex') AS expected
          FROM postern.stored_objects o JOIN postern.deliveries d ON d.id = o.delivery_id
          WHERE d.endpoint_id = $1 AND o.kind = 'request_body' AND o.state = 'available'`,
        [id, sent?.body],
      );
      return rows.length === 1 && rows;
    });
    assert.equal(kept[0]?.digest, kept[0]?.expected);
    await service.call("PUT", "/api/storage/settings", { json: { ...settings, keep_request_bodies: false } });
    await webhooksOf(service).remove(id);
  });
});

describe("publishing", () => {
  it("needs every version that is no preview, and each in its own form", async () => {
    const { rows } = await service.database.pool.query("SELECT count(*)::int AS count FROM postern.events");
    const faults: [Record<string, unknown>, Record<string, string>][] = [
      [{ data: V2 }, { "versions.1": "is required" }],
      [{}, { data: "must be an object", "versions.1": "is required" }],
      [{ versions: { "1": V1 } }, { data: "must be an object" }],
      [{ data: V2, versions: { "1": V1, "9": {} } }, { "versions.9": "unknown_version" }],
      [{ data: V2, versions: { "1": V1, "2": V2 } }, { "versions.2": "version 2 is what data is" }],
      [{ data: V2, versions: { "1": { amount: "12" } } }, { "versions.1.amount": "must be integer" }],
      [{ data: V1, versions: { "1": V1 } }, { data: "must have required property 'total'" }],
      [{ data: V2, versions: { "1": { amount: 1, note: "\0" } } }, { "versions.1": "nul_character" }],
      [{ type: "invoice.paid@2", data: V2, versions: { "1": V1 } }, { type: "unknown_event_type" }],
      [{ type: "order.placed", data: {}, versions: { "2": {} } }, { "versions.2": "unknown_version" }],
    ];
    for (const [event, issues] of faults) assert.deepEqual(issuesOf(await published(event)), issues);
    for (const versions of [{ "01": V1 }, { "1": 7 }, [V1], { __proto__x: V1 }])
      assert.equal((await published({ data: V2, versions })).status, 400);
    const now = await service.database.pool.query("SELECT count(*)::int AS count FROM postern.events");
    assert.deepEqual(now.rows, rows);
  });

  it("knows a key's content by all of its versions, whichever is data", async () => {
    const first = await publish({ id: "key", data: V2, versions: { "1": V1 } });
    const same = [
      { id: "key", data: V2, versions: { "1": V1 } },
      { id: "key", versions: { "2": V2, "1": V1 } },
    ];
    for (const event of same) {
      const answer = await published(event);
      assert.deepEqual([answer.status, JSON.parse(answer.text).id], [200, first.id]);
    }
    const others = [
      { data: V2, versions: { "1": { amount: 13 } } },
      { data: V2, versions: { "1": V1, "3": V3 } },
    ];
    for (const event of others) assertRefused(await published({ id: "key", ...event }), REFUSED.keyReused);
    const fromSql = await publishVersions("acme", "invoice.paid", { "1": V1, "2": V2 }, "key");
    assert.equal(fromSql, first.id);
    await assert.rejects(
      publishVersions("acme", "invoice.paid", { "1": V1, "2": {} }, "key"),
      /different content/,
    );
  });

  it("keeps every digit in each version", async () => {
    const { id } = await endpointAt("/digits", ["invoice.paid@1"]);
    const raw = `{"type":"invoice.paid","data":{"total":1},"versions":{"1":{"amount":12345678901234567890}}}`;
    const answer = await service.call("POST", "/api/events", { as: PRODUCER, raw });
    assert.equal(answer.status, 202, answer.text);
    const [sent] = await eventually(async () => sentTo("/digits").length === 1 && sentTo("/digits"));
    const other = `{"type":"order.placed","data":{"n":1}}`;
    const bare = raw.replace('"data":{"total":1},', "").replace('{"1"', '{"2":{"total":1},"1"');
    const many = await service.call("POST", "/api/events", { as: PRODUCER, raw: `[${other},${bare}]` });
    assert.equal(many.status, 202, many.text);
    const [, second] = await eventually(async () => sentTo("/digits").length === 2 && sentTo("/digits"));
    assert.ok(second?.body.includes("12345678901234567890"), second?.body);
    assert.ok(sent?.body.includes("12345678901234567890"), sent?.body);
    await webhooksOf(service).remove(id);
  });

  it("by SQL takes the data of every version, and refuses what HTTP refuses", async () => {
    const endpoints = [
      await endpointAt("/sql/1", ["invoice.paid@1"]),
      await endpointAt("/sql/2", ["invoice.paid"]),
    ];
    const id = await publishVersions("acme", "invoice.paid", { "1": V1, "2": V2 });
    assert.deepEqual((await arrived("/sql/1", id))[0]?.data, V1);
    assert.deepEqual((await arrived("/sql/2", id))[0]?.data, V2);
    const faults: [unknown, RegExp][] = [
      [{ "2": V2 }, /version 1 of event type invoice\.paid is missing/],
      [{ "1": V1 }, /version 2 of event type invoice\.paid is missing/],
      [{ "1": V1, "2": V2, "9": {} }, /unknown version 9/],
      [{ "1": V1, "2": 7 }, /data must be a JSON object/],
      [[V1], /versions must be a JSON object/],
    ];
    for (const [versions, error] of faults)
      await assert.rejects(publishVersions("acme", "invoice.paid", versions), error);
    await assert.rejects(
      service.database.pool.query("SELECT postern.publish('acme', 'invoice.paid', '{}')"),
      /version 1 of event type invoice\.paid is missing/,
    );
    // Its schema is the relay's to check: an event that breaks it in one version is sent in none.
    await publishVersions("acme", "invoice.paid", { "1": { amount: "12" }, "2": V2 });
    const later = await publishVersions("acme", "invoice.paid", { "1": V1, "2": V2 });
    await arrived("/sql/2", later);
    assert.equal(sentTo("/sql/2").length, 2);
    for (const endpoint of endpoints) await webhooksOf(service).remove(endpoint.id);
  });
});

async function publishVersions(...values: unknown[]): Promise<string> {
  const places = values.map((_, index) => `$${index + 1}`).join(", ");
  const given = values.map((value) => (Array.isArray(value) ? JSON.stringify(value) : value));
  const { rows } = await service.database.pool.query<{ id: string }>(
    `SELECT postern.publish_versions(${places}) AS id`,
    given,
  );
  return rows[0]?.id ?? "";
}

describe("a subscription and a test", () => {
  it("name a version of the catalog, one of each type", async () => {
    const { call } = webhooksOf(service);
    const { url } = service.receiver;
    const events = async (patterns: string[]) =>
      issuesOf(await call("POST", "", { json: { url, events: patterns } }));
    assert.deepEqual(await events(["invoice.paid@1", "invoice.paid@2"]), {
      events: "must name one version of a type",
    });
    for (const pattern of ["invoice.paid@9", "invoice.*@1", "invoice.paid@0", "order.placed@2"])
      assert.deepEqual(await events([pattern]), { "events.0": "unknown_event_type" });
  });

  it("agree on what the endpoint gets", async () => {
    const { id } = await endpointAt("/tested", ["order.*", "invoice.paid@1"]);
    const test = (event_type: string, data?: unknown) =>
      webhooksOf(service).call("POST", `/${id}/test`, { json: { event_type, data } });
    assert.equal((await test("invoice.paid@1")).status, 200);
    assert.equal((await test("order.placed@1")).status, 200);
    assert.equal((await test("order.placed")).status, 200);
    const [, , first] = await webhooksOf(service).deliveries(id);
    assert.deepEqual([first?.event_type, first?.event_version], ["invoice.paid", 1]);
    const [sent] = sentTo("/tested");
    assert.deepEqual(
      [sent?.type, JSON.parse(sent?.body ?? "")],
      ["invoice.paid", { event: "invoice.paid", data: { amount: 1 }, _test: true }],
    );
    for (const type of ["invoice.paid", "invoice.paid@2", "invoice.paid@3"])
      assertRefused(await test(type), REFUSED.notSubscribed);
    assert.deepEqual(issuesOf(await test("invoice.paid@9")), { event_type: "unknown_event_type" });
    assert.deepEqual(issuesOf(await test("invoice.paid@1", { amount: "1" })), {
      "data.amount": "must be integer",
    });
    await webhooksOf(service).remove(id);
  });
});

it("the catalog's list has each version, and says when the first of them ends", async () => {
  const answer = await service.call("GET", "/api/webhooks/events");
  const entries: { type: string; version: number; preview: boolean; deprecated: boolean; sunset?: string }[] =
    JSON.parse(answer.text);
  assert.deepEqual(
    entries.flatMap(({ type, version, preview, deprecated, sunset }) =>
      type === "invoice.paid" ? [[version, preview, deprecated, sunset]] : [],
    ),
    [
      [1, false, true, "2031-07-01T12:00:00+02:00"],
      [2, false, false, undefined],
      [3, true, false, undefined],
    ],
  );
  assert.equal(answer.headers.get("deprecation"), `@${Date.parse("2031-01-01") / 1000}`);
  assert.equal(answer.headers.get("sunset"), "Tue, 01 Jul 2031 10:00:00 GMT");
});

describe("a client that fetches", () => {
  it("gets the version of its endpoint, and again after it refused", async () => {
    const webhooks = webhooksOf(service);
    const pull = { mode: "pull", events: ["invoice.paid@1"] };
    const { endpoint } = await webhooks.create(pull);
    const client = clientOf(service, endpoint.id);
    await publish({ data: V2, versions: { 1: V1, 3: V3 } });
    for (const attempt of [1, 2]) {
      const lease = await client.lease({ wait_s: 20 });
      const [event] = lease.events;
      assert.ok(event !== undefined);
      assert.deepEqual([event.attempt, event.event_version], [attempt, 1]);
      assert.deepEqual(JSON.parse(event.body).data, V1);
      await client.ack(lease, [{ id: event.id, error: "no" }]);
      const logged = await webhooks.delivery(endpoint.id, event.id);
      assert.deepEqual([logged.event_version, logged.request_body], [1, event.body]);
    }
    await webhooks.remove(endpoint.id);
  });
});
