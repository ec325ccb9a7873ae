/** Publishing: tenants, arrays, idempotency keys, and what data may hold. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { runProgram } from "./support/program.ts";
import { PRODUCER, type ApiAnswer, type Claims } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  first,
  issuesOf,
  publish,
  REFUSED,
  webhooksOf,
  type Webhooks,
} from "./support/webhooks.ts";

const TYPE = "invoice.paid";
const STRICT = { type: "order.placed", title: "Placed", description: "", group: "Orders", payloadShape: {} };
const CATALOG = [
  { ...STRICT, schema: { type: "object", properties: { total: { type: "integer" } }, required: ["total"] } },
  { ...STRICT, type: TYPE },
  { ...STRICT, type: "invoice.old", deprecated: true },
];
const ALL_TENANTS: Claims = { ...PRODUCER, tid: "*" };

const publishedList = z.array(z.strictObject({ id: z.string(), deliveries: z.number() }));

let folder: string;
let service: TestService;
let webhooks: Webhooks;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-catalog-"));
  const file = join(folder, "catalog.json");
  await writeFile(file, JSON.stringify(CATALOG));
  service = await startTestService({ env: { EVENT_CATALOG: file } });
  webhooks = webhooksOf(service);
});
after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

const post = (json: unknown, as: Claims = PRODUCER): Promise<ApiAnswer> =>
  service.call("POST", "/api/events", { as, json });

const postRaw = (raw: string): Promise<ApiAnswer> =>
  service.call("POST", "/api/events", { as: PRODUCER, raw });

async function countEvents(): Promise<number> {
  const { rows } = await service.database.pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM postern.events",
  );
  return first(rows).count;
}

describe("one event", () => {
  it("answers 202 with its id and how many endpoints it goes to", async () => {
    assert.equal((await publish(service, { type: TYPE })).deliveries, 0);
    const ids = [];
    for (const events of [["*"], [TYPE], ["invoice.*"], ["order.*"], ["endpoint.*"]]) {
      ids.push((await webhooks.create({ events })).endpoint.id);
    }
    const event = await publish(service, { type: TYPE, data: { a: 1 } });
    assert.equal(event.deliveries, 3);
    assert.match(event.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    for (const id of ids.slice(0, 3)) {
      assert.equal(first(await webhooks.waitFor(id, "delivered")).event_id, event.id);
    }
    for (const id of ids.slice(3)) assert.deepEqual(await webhooks.deliveries(id), []);
    for (const id of ids) await webhooks.remove(id);
  });

  it("delivers data unaltered, whatever its names and characters", async () => {
    const { endpoint } = await webhooks.create();
    const data = '{"__proto__":{"a":1},"b":[null,true,-0.5,1e21],"süß 🍰":"\\u2028","":{}}';
    const answer = await service.call("POST", "/api/events", {
      as: PRODUCER,
      raw: `{"type":"${TYPE}","data":${data}}`,
    });
    assert.equal(answer.status, 202, answer.text);
    const row = first(await webhooks.waitFor(endpoint.id, "delivered"));
    assert.ok(
      row.request_body?.endsWith(`"data":${JSON.stringify(JSON.parse(data))}}`),
      row.request_body ?? "",
    );
    await webhooks.remove(endpoint.id);
  });

  it("takes a deprecated type, and a type of Postern's own", async () => {
    await publish(service, { type: "invoice.old" });
    await publish(service, { type: "endpoint.disabled" });
  });

  const deep = (depth: number): unknown => (depth === 0 ? 1 : { a: deep(depth - 1) });
  const invalid: [string, unknown, Record<string, RegExp>][] = [
    ["no type", { data: {} }, { type: /./ }],
    ["no data", { type: TYPE }, { data: /object/ }],
    ["data that is an array", { type: TYPE, data: [] }, { data: /object/ }],
    ["data that is null", { type: TYPE, data: null }, { data: /object/ }],
    ["an unknown type", { type: "nope", data: {} }, { type: /^unknown_event_type$/ }],
    ["a pattern for a type", { type: "invoice.*", data: {} }, { type: /^unknown_event_type$/ }],
    ["an empty key", { type: TYPE, data: {}, id: "" }, { id: /./ }],
    ["a key of 129 characters", { type: TYPE, data: {}, id: "k".repeat(129) }, { id: /./ }],
    [
      "a key of 129 wide characters",
      { type: TYPE, data: {}, id: "🔑".repeat(129) },
      { id: /at most 128 characters/ },
    ],
    ["a NUL in the key", { type: TYPE, data: {}, id: "a\u0000" }, { id: /NUL/ }],
    ["a tenant that is none", { type: TYPE, data: {}, tenant_id: "a b" }, { tenant_id: /./ }],
    ["a NUL in data", { type: TYPE, data: { a: ["\u0000"] } }, { data: /^nul_character$/ }],
    ["a NUL in a name", { type: TYPE, data: { "a\u0000": 1 } }, { data: /^nul_character$/ }],
    ["a lone surrogate", { type: TYPE, data: { a: "\uD800" } }, { data: /^lone_surrogate$/ }],
    ["data 65 deep", { type: TYPE, data: deep(65) }, { data: /^too_deep$/ }],
    ["data against the schema", { type: "order.placed", data: { total: "1" } }, { "data.total": /integer/ }],
    ["data short of the schema", { type: "order.placed", data: {} }, { data: /total/ }],
  ];
  for (const [name, json, expected] of invalid) {
    it(`answers 400 to ${name}, alone and at its index of an array`, async () => {
      const before = await countEvents();
      const alone = issuesOf(await post(json));
      assert.deepEqual(Object.keys(alone), Object.keys(expected));
      for (const [path, message] of Object.entries(expected)) assert.match(alone[path] ?? "", message);
      const inArray = issuesOf(await post([{ type: TYPE, data: {} }, json]));
      assert.deepEqual(
        Object.keys(inArray),
        Object.keys(expected).map((path) => `1.${path}`),
      );
      assert.equal(await countEvents(), before);
    });
  }

  it("answers 400 to a number that no double holds", async () => {
    const raw = `{"type":"${TYPE}","data":{"n":1e400}}`;
    const answer = await service.call("POST", "/api/events", { as: PRODUCER, raw });
    assert.deepEqual(issuesOf(answer), { data: "number_out_of_range" });
  });

  it("takes data that keep to the schema, and data 64 deep", async () => {
    await publish(service, { type: "order.placed", data: { total: 7, more: true } });
    assert.equal((await post({ type: TYPE, data: deep(64) })).status, 202);
  });
});

describe("the tenant of an event", () => {
  it("is the session's, which may be named too", async () => {
    assert.equal((await post({ type: TYPE, data: {}, tenant_id: "acme" })).status, 202);
  });

  it("is refused with 403 when it is another, alone or in an array", async () => {
    const other = { type: TYPE, data: {}, tenant_id: "globex" };
    const before = await countEvents();
    assertRefused(await post(other), REFUSED.forbidden);
    assertRefused(await post([{ type: TYPE, data: {} }, other]), REFUSED.forbidden);
    assert.equal(await countEvents(), before);
  });

  it("must be named by a session of all tenants, each event its own", async () => {
    assert.deepEqual(Object.keys(issuesOf(await post({ type: TYPE, data: {} }, ALL_TENANTS))), ["tenant_id"]);
    const mixed = [
      { type: TYPE, data: {}, tenant_id: "acme" },
      { type: TYPE, data: {} },
    ];
    assert.deepEqual(Object.keys(issuesOf(await post(mixed, ALL_TENANTS))), ["1.tenant_id"]);
    const globex = webhooksOf(service, { type: "user", tid: "globex", role: "owner" });
    const { endpoint } = await globex.create();
    const events = ["acme", "globex"].map((tenant_id) => ({ type: TYPE, data: { tenant_id }, tenant_id }));
    const answer = await post(events, ALL_TENANTS);
    assert.deepEqual(
      publishedList.parse(answer.body).map(({ deliveries }) => deliveries),
      [0, 1],
    );
    const row = first(await globex.waitFor(endpoint.id, "delivered"));
    assert.deepEqual(Object(JSON.parse(row.request_body ?? "")).data, { tenant_id: "globex" });
  });

  it("comes from a service session alone", async () => {
    for (const as of [
      { ...PRODUCER, type: "user" },
      { ...PRODUCER, tid: "a b" },
      { ...PRODUCER, tid: "" },
    ]) {
      assertRefused(await post({ type: TYPE, data: {} }, as), REFUSED.unauthorized);
    }
    assertRefused(await post({ type: TYPE, data: {} }, { ...PRODUCER, permissions: [] }), REFUSED.forbidden);
    const { permissions: _, ...roleOnly } = PRODUCER;
    assertRefused(await post({ type: TYPE, data: {} }, { ...roleOnly, role: "owner" }), REFUSED.forbidden);
  });
});

describe("an array of events", () => {
  it("answers one result for each, in order", async () => {
    const answer = await post(Array.from({ length: 1000 }, (_, n) => ({ type: TYPE, data: { n } })));
    assert.equal(answer.status, 202);
    const published = publishedList.parse(answer.body);
    assert.equal(new Set(published.map(({ id }) => id)).size, 1000);
    const { rows } = await service.database.pool.query<{ n: string }>(
      `SELECT body::json -> 'data' ->> 'n' AS n FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, place)
       JOIN postern.events USING (id) ORDER BY place`,
      [published.map(({ id }) => id)],
    );
    assert.deepEqual(
      rows.map(({ n }) => Number(n)),
      Array.from({ length: 1000 }, (_, n) => n),
    );
  });

  it("has 1 to 1,000 events", async () => {
    issuesOf(await post([]));
    issuesOf(await post(Array.from({ length: 1001 }, () => ({ type: TYPE, data: {} }))));
  });

  it("names every event at fault", async () => {
    const found = issuesOf(
      await post([
        { type: "x", data: {} },
        { type: TYPE, data: {} },
        { type: "y", data: {} },
      ]),
    );
    assert.deepEqual(found, { "0.type": "unknown_event_type", "2.type": "unknown_event_type" });
  });

  it("stays an array with one event", async () => {
    assert.equal(publishedList.parse((await post([{ type: TYPE, data: {} }])).body).length, 1);
  });
});

const event = (data: string, id = "") =>
  `{"type":"${TYPE}","data":${data}${id === "" ? "" : `,"id":"${id}"`}}`;
const total = (value: string) => postRaw(`{"type":"order.placed","data":{"total":${value}}}`);

describe("numbers with more digits than a double has", () => {
  const LONG = "12345678901234567890";

  it("arrive with every digit, from one event and from an array", async () => {
    const { endpoint } = await webhooks.create({ events: [TYPE] });
    const data = `{"n":${LONG},"deep":[{"n":-9007199254740993}],"s":"${LONG}","d":0.1234567890123456789,"t":1}`;
    assert.equal((await postRaw(event(data))).status, 202);
    assert.equal((await postRaw(`[${event("{}")},${event(data)}]`)).status, 202);
    const delivered = await webhooks.waitFor(endpoint.id, "delivered", 3);
    const bodies = delivered.map(({ request_body }) => /"data":(.*)}$/.exec(request_body ?? "")?.[1] ?? "");
    assert.deepEqual(bodies.sort(), [data, data, "{}"].sort());
    await webhooks.remove(endpoint.id);
  });

  it("keep every digit through `postern publish`, which refuses what the API refuses", async () => {
    const { endpoint } = await webhooks.create({ events: [TYPE] });
    const args = ["publish", TYPE, "--tenant", "acme", "--url", `${service.url}/`, "--id"];
    const data = `{"n":${LONG},"d":0.1234567890123456789}`;
    const sent = await runProgram([...args, 'a "key"', "--data", data], service.env);
    assert.equal(sent.code, 0, sent.output);
    const [delivered] = await webhooks.waitFor(endpoint.id, "delivered", 1);
    assert.equal(/"data":(.*)}$/.exec(delivered?.request_body ?? "")?.[1], data);
    const refused = await runProgram([...args, "range", "--data", '{"n":1e400}'], service.env);
    assert.equal(refused.code, 1);
    assert.match(refused.output, /number_out_of_range/);
    const unknown = await runProgram(["publish", "invoice.payed", ...args.slice(2), "type"], service.env);
    assert.equal(unknown.code, 1);
    assert.match(unknown.errors, /no type invoice\.payed: .*EVENT_CATALOG.*GET \/api\/webhooks\/events/);
    for (const text of ["{} , {}", '{},"id":"other"', "{n: 1}"]) {
      const { code, output } = await runProgram([...args, "text", "--data", text], service.env);
      assert.deepEqual([code, /--data is not JSON/.test(output)], [1, true], output);
    }
    await webhooks.remove(endpoint.id);
  });

  it("are told apart under one idempotency key", async () => {
    assert.equal((await postRaw(event(`{"n":${LONG}}`, "long"))).status, 202);
    assert.equal((await postRaw(event(`{ "n": ${LONG} }`, "long"))).status, 200);
    assertRefused(await postRaw(event(`{"n":${LONG.slice(0, -1)}1}`, "long")), REFUSED.keyReused);
    assert.equal((await postRaw(event(`{"n":0.${"7".repeat(390)}}`, "decimals"))).status, 202);
    assert.equal((await postRaw(event(`{"n":9007199254740993e0}`, "exponent"))).status, 202);
    assert.equal((await postRaw(event(`{"n":0.9007199254740993E16}`, "exponent"))).status, 200);
    assertRefused(await postRaw(event(`{"n":9007199254740992}`, "exponent")), REFUSED.keyReused);
  });

  it("arrive with exactly their values, with exponents and close to zero too, or are refused", async () => {
    const { endpoint } = await webhooks.create({ events: [TYPE] });
    const data = `{"n":[9007199254740993e0,-0.90071992547409931E+16,1.234e-322,4e-324],"z":0.${"7".repeat(398)}}`;
    assert.equal((await postRaw(event(data))).status, 202);
    const [delivered] = await webhooks.waitFor(endpoint.id, "delivered", 1);
    assert.equal(/"data":(.*)}$/.exec(delivered?.request_body ?? "")?.[1], data);
    const refused = [
      ["1e-400", "number_out_of_range"],
      ["-1234567890123456789e-5000000", "number_out_of_range"],
      ["1e400", "number_out_of_range"],
      [`0.${"7".repeat(399)}`, "number_too_long"],
    ] as const;
    for (const [number, message] of refused) {
      assert.deepEqual(issuesOf(await postRaw(event(`{"n":${number}}`))), { data: message });
      assert.deepEqual(issuesOf(await postRaw(`[${event("{}")},${event(`{"n":[${number}]}`)}]`)), {
        "1.data": message,
      });
    }
    assert.equal((await postRaw(event(`{"n":0e-400}`))).status, 202);
    await webhooks.remove(endpoint.id);
  });

  it("are checked by the schema as numbers, and refused beyond a double's range", async () => {
    assert.equal((await total(LONG)).status, 202);
    assert.deepEqual(Object.keys(issuesOf(await total("0.5"))), ["data.total"]);
    assert.deepEqual(issuesOf(await total(`1${"0".repeat(400)}`)), { data: "number_out_of_range" });
  });
});
