/** Static headers whose values nobody is shown: `authorization`, and those that the endpoint names. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  csvRows,
  lastHour,
  ndjsonRows,
  parquetRows,
  storageOf,
  unpack,
  unpackFiles,
} from "./support/exports.ts";
import { MEMBER, OTHER_OWNER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { temporaryPath } from "./support/temporary.ts";
import { assertRefused, issuesOf, publish, REFUSED, webhooksOf, type Webhooks } from "./support/webhooks.ts";

const VALUE = "Basic dXNlcjpwdw==";
const KEY = "an-api-key-of-the-receiver";
const MASKED = "[masked]";
const HEADERS = { "X-Team": "billing", Authorization: VALUE, "X-Api-Key": KEY };
const SHOWN = { "X-Team": "billing", Authorization: MASKED, "X-Api-Key": MASKED };

let service: TestService;
let webhooks: Webhooks;

before(async () => {
  service = await startTestService({ env: { DATA_DIR: temporaryPath("masked-headers") } });
  webhooks = webhooksOf(service);
});
after(() => service.stop());

const create = () => webhooks.create({ headers: HEADERS, masked_headers: ["x-api-key"] });

/** The headers that the receiver gets of a test. */
async function sentByTest(id: string) {
  await webhooks.test(id, "invoice.paid");
  const { authorization, "x-api-key": key, "x-team": team } = service.receiver.requests.at(-1)?.headers ?? {};
  return { authorization, key, team };
}

describe("a masked header", () => {
  it("is sent, and stands in no answer, row or log", async () => {
    const { endpoint } = await create();
    assert.deepEqual(endpoint.headers, SHOWN);
    assert.deepEqual(endpoint.masked_headers, ["x-api-key"]);
    assert.deepEqual(await sentByTest(endpoint.id), { authorization: VALUE, key: KEY, team: "billing" });
    await publish(service, { type: "invoice.paid", data: {} });
    await webhooks.waitFor(endpoint.id, "delivered");
    assert.equal(service.receiver.requests.at(-1)?.headers["x-api-key"], KEY);
    const log = await webhooks.deliveries(endpoint.id);
    assert.equal(log.length, 2);
    for (const { request_headers } of log)
      assert.deepEqual({ ...request_headers, ...SHOWN }, request_headers);

    const answers = [
      await webhooks.call("GET", "", { as: MEMBER }),
      await webhooks.call("GET", `/${endpoint.id}`, { as: MEMBER }),
      await webhooks.call("GET", `/${endpoint.id}/deliveries`, { as: MEMBER }),
      await webhooks.call("PATCH", `/${endpoint.id}`, { json: { description: "x" } }),
      await service.call("GET", "/api/audit"),
    ];
    const { rows } = await service.database.pool.query(
      `SELECT to_jsonb(e)::text AS row FROM postern.endpoints e UNION ALL
        SELECT to_jsonb(d)::text FROM postern.deliveries d`,
    );
    const everything = JSON.stringify([answers.map(({ text }) => text), rows]);
    for (const value of [VALUE, KEY]) {
      assert.ok(!everything.includes(value));
      assert.ok(!everything.includes(Buffer.from(value).toString("hex")));
    }
    assertRefused(await webhooks.call("GET", `/${endpoint.id}`, { as: OTHER_OWNER }), REFUSED.notFound);
  });

  it("stands in no export, in any format", async () => {
    const { endpoint } = await create();
    assert.deepEqual(await sentByTest(endpoint.id), { authorization: VALUE, key: KEY, team: "billing" });
    const storage = storageOf(service);
    const range = { ...lastHour(), endpoint_id: endpoint.id, formats: ["ndjson", "csv", "parquet"] };
    const archive = await storage.download(await storage.waitFor(await storage.request(range)));
    const texts = await unpack(archive);
    const { rows: inParquet } = await parquetRows(await unpackFiles(archive));
    const rows = [ndjsonRows(texts), csvRows(texts), inParquet];
    for (const [row, ...others] of rows) {
      assert.ok(row !== undefined && others.length === 0);
      const shown = row["request_headers"];
      const headers: Record<string, unknown> = Object(typeof shown === "string" ? JSON.parse(shown) : shown);
      assert.deepEqual({ ...headers, ...SHOWN }, headers);
    }
    // Files of Parquet are compressed, so their rows are searched.
    const everything = [...texts.values(), JSON.stringify(inParquet)].join("\n");
    for (const value of [VALUE, KEY])
      for (const encoding of ["utf8", "hex", "base64"] as const)
        assert.ok(!everything.includes(Buffer.from(value).toString(encoding)), `${value} as ${encoding}`);
  });

  it("keeps its value when the endpoint is read, edited and sent back", async () => {
    const { endpoint } = await create();
    const read = (await webhooks.detail(endpoint.id)).endpoint;
    const again = await webhooks.update(endpoint.id, { ...read, description: "edited" });
    assert.deepEqual(again, { ...read, description: "edited", updated_at: again.updated_at });
    assert.deepEqual(await sentByTest(endpoint.id), { authorization: VALUE, key: KEY, team: "billing" });
  });

  it("keeps its value when it is sent back, in whatever case the endpoint and the list name it", async () => {
    for (const [name, listed] of [
      ["X-Api-Key", "x-api-key"],
      ["x-api-key", "X-Api-Key"],
      ["X-API-KEY", "x-Api-kEY"],
    ] as const) {
      const { endpoint } = await webhooks.create({
        headers: { AUTHORIZATION: VALUE, [name]: KEY },
        masked_headers: [listed],
      });
      assert.deepEqual(endpoint.headers, { AUTHORIZATION: MASKED, [name]: MASKED });
      const read = (await webhooks.detail(endpoint.id)).endpoint;
      assert.deepEqual(read.masked_headers, [listed]);
      const again = await webhooks.update(endpoint.id, { ...read, description: "edited" });
      assert.deepEqual(again, { ...read, description: "edited", updated_at: again.updated_at });
      assert.deepEqual(await sentByTest(endpoint.id), { authorization: VALUE, key: KEY, team: undefined });
    }
  });

  it("keeps its value under a name in other case, beside others that are changed, added and removed", async () => {
    const { endpoint } = await create();
    const headers = { authorization: "Bearer new", "x-API-key": MASKED, "X-Team": "sales" };
    const changed = await webhooks.update(endpoint.id, { headers });
    assert.deepEqual(changed.headers, { ...headers, authorization: MASKED });
    assert.deepEqual(await sentByTest(endpoint.id), { authorization: "Bearer new", key: KEY, team: "sales" });
    await webhooks.update(endpoint.id, { headers: { authorization: MASKED } });
    const left = { authorization: "Bearer new", key: undefined, team: undefined };
    assert.deepEqual(await sentByTest(endpoint.id), left);
    const answer = await webhooks.call("PATCH", `/${endpoint.id}`, {
      json: { headers: { "x-api-key": MASKED } },
    });
    assert.deepEqual(Object.keys(issuesOf(answer)), ["headers.x-api-key"]);
    assert.deepEqual(await sentByTest(endpoint.id), left);
  });

  it("is sealed from the moment at which it is named, and shown again only with a new value", async () => {
    const { endpoint } = await webhooks.create({ headers: { "X-Api-Key": KEY } });
    assert.equal(endpoint.headers["X-Api-Key"], KEY);
    const masked = await webhooks.update(endpoint.id, { masked_headers: ["X-API-KEY"] });
    assert.equal(masked.headers["X-Api-Key"], MASKED);
    assert.equal((await sentByTest(endpoint.id)).key, KEY);
    for (const json of [{ masked_headers: [] }, { headers: masked.headers, masked_headers: [] }]) {
      const answer = await webhooks.call("PATCH", `/${endpoint.id}`, { json });
      assert.deepEqual(Object.keys(issuesOf(answer)), ["headers.X-Api-Key"]);
    }
    assert.equal((await sentByTest(endpoint.id)).key, KEY);
    const shown = await webhooks.update(endpoint.id, { headers: { "X-Api-Key": "2" }, masked_headers: [] });
    assert.equal(shown.headers["X-Api-Key"], "2");
  });

  it("must have a value where none is kept, and no other header is the text that stands for one", async () => {
    const before = await webhooks.list();
    for (const name of ["Authorization", "X-Api-Key", "X-Team"]) {
      const json = { url: service.receiver.url, headers: { [name]: MASKED }, masked_headers: ["x-api-key"] };
      assert.deepEqual(Object.keys(issuesOf(await webhooks.call("POST", "", { json }))), [`headers.${name}`]);
    }
    for (const masked_headers of [["a b"], ["x-a", "X-A"], ["webhook-id"], [7], "x-a", null, [""]]) {
      const answer = await webhooks.call("POST", "", { json: { url: service.receiver.url, masked_headers } });
      assert.match(Object.keys(issuesOf(answer)).join(), /^masked_headers/);
    }
    assert.deepEqual(await webhooks.list(), before);
  });

  it("is bound to its endpoint: in another row it does not open", async () => {
    const { endpoint } = await create();
    const { endpoint: other } = await create();
    await service.database.pool.query(
      `UPDATE postern.endpoints SET sealed_headers = (SELECT sealed_headers FROM postern.endpoints WHERE id = $1)
        WHERE id = $2`,
      [endpoint.id, other.id],
    );
    const answer = await webhooks.call("POST", `/${other.id}/test`, { json: { event_type: "invoice.paid" } });
    assert.equal(answer.status, 500);
    // Giving all of them anew mends it.
    const mended = await webhooks.call("PATCH", `/${other.id}`, { json: { headers: HEADERS } });
    assert.equal(mended.status, 200, mended.text);
    assert.equal((await sentByTest(other.id)).key, KEY);
  });

  it("goes with its endpoint, and so do the signing secrets", async () => {
    const { endpoint } = await create();
    await webhooks.rotate(endpoint.id, { grace_seconds: 600 });
    await webhooks.remove(endpoint.id);
    const { rows } = await service.database.pool.query(
      `SELECT headers, masked_headers, sealed_headers, secret, previous_secret, previous_secret_until
        FROM postern.endpoints WHERE id = $1`,
      [endpoint.id],
    );
    const gone = { headers: {}, masked_headers: [], sealed_headers: null };
    const goneToo = { secret: Buffer.alloc(0), previous_secret: null, previous_secret_until: null };
    assert.deepEqual(rows, [{ ...gone, ...goneToo }]);
  });
});
