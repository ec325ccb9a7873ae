/** Bodies of attempts that a tenant keeps, the library that shows them, and links to them. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import { storageOf, type Artifact } from "./support/exports.ts";
import { MEMBER, OTHER_OWNER, OWNER, type Claims } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { assertRefused, first, issuesOf, REFUSED, UNKNOWN_ID } from "./support/webhooks.ts";

const LONG = "é".repeat(1500);
const KEEP_ALL = { keep_request_bodies: true, keep_response_bodies: true, artifact_days: null };
const KEEP_NONE = { keep_request_bodies: false, keep_response_bodies: false, artifact_days: null };

let dataDir: string;
let service: TestService;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "postern-artifacts-"));
  service = await startTestService({
    env: { DATA_DIR: dataDir, RETRY_SCHEDULE: "0s,1h" },
    respond: ({ path }) => ({
      status: path === "/fail" ? 500 : 200,
      body: path === "/short" ? "ok" : LONG,
    }),
  });
});
after(async () => {
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
});

let tenants = 0;

/** A tenant that nobody has used, with its settings and an endpoint. */
async function newTenant(settings: object, path = "/long") {
  const as: Claims = { ...OWNER, tid: `keeper-${++tenants}` };
  const producer: Claims = { type: "service", tid: as.tid ?? "", permissions: ["events:write"] };
  const storage = storageOf(service, as);
  const put = await storage.call("PUT", "/settings", { json: settings });
  assert.deepEqual([put.status, put.body], [200, settings]);
  const url = new URL(path, service.receiver.url).href;
  const { endpoint } = await createEndpoint(service, { url }, { as });
  return {
    as,
    storage,
    endpoint,
    deliver: async (data: Record<string, unknown> = {}) => {
      const event = await publish(service, "invoice.paid", { data, as: producer });
      return eventually(async () =>
        (await listDeliveries(service, endpoint.id, `?event_id=${event.id}`, { as })).find(
          ({ status }) => status !== "pending",
        ),
      );
    },
    /** Waits for so many artifacts. */
    items: async (count: number): Promise<Artifact[]> => {
      return eventually(async () => {
        const { items } = await storage.library();
        return items.length >= count && items;
      });
    },
  };
}

async function textOf(storage: ReturnType<typeof storageOf>, item: Artifact): Promise<string> {
  const { url } = await storage.link(item);
  return (await fetch(url)).text();
}

describe("a tenant that keeps bodies", () => {
  it("finds the request and the whole long answer of each attempt in its library", async () => {
    const { deliver, items, storage } = await newTenant(KEEP_ALL);
    const delivery = await deliver({ n: 1 });
    assert.equal(delivery.response_body, "é".repeat(1000));
    const found = await items(2);
    const byKind = new Map(found.map((item) => [item.kind, item]));
    for (const item of found) {
      assert.equal(item.delivery_id, delivery.id);
      assert.equal(item.attempt, 1);
      assert.equal(item.status, "ready");
    }
    const [request, response] = [byKind.get("request_body"), byKind.get("response_body")];
    assert.ok(request !== undefined && response !== undefined);
    assert.equal(await textOf(storage, request), delivery.request_body);
    assert.equal(await textOf(storage, response), LONG);
  });

  it("finds those of a person's retry and test too, each under its own delivery", async () => {
    const { deliver, endpoint, items, as } = await newTenant(KEEP_ALL, "/fail");
    const failed = await deliver();
    const answer = await service.call("POST", `/api/webhooks/${endpoint.id}/deliveries/${failed.id}/retry`, {
      as,
    });
    const retryId = Object(answer.body).delivery.id;
    const test = { as, json: { event_type: "invoice.paid" } };
    assert.equal((await service.call("POST", `/api/webhooks/${endpoint.id}/test`, test)).status, 200);
    const found = await items(6);
    const retried = found.filter(({ delivery_id }) => delivery_id === retryId);
    assert.deepEqual(retried.map(({ kind, attempt }) => `${kind} ${attempt}`).sort(), [
      "request_body 2",
      "response_body 2",
    ]);
    assert.equal(new Set(found.map(({ delivery_id }) => delivery_id)).size, 3);
  });

  it("finds no answer that the log already holds whole", async () => {
    const { deliver, items } = await newTenant(KEEP_ALL, "/short");
    await deliver();
    assert.deepEqual(
      (await items(1)).map(({ kind }) => kind),
      ["request_body"],
    );
  });

  it("keeps them for as many days as it chose, if the operator allows as many", async () => {
    for (const [days, kept] of [
      [3, 3],
      [3650, 30],
    ] as const) {
      const { deliver, items } = await newTenant({ ...KEEP_ALL, artifact_days: days });
      await deliver();
      const item = first(await items(2));
      assert.equal(Date.parse(item.expires_at ?? "") - Date.parse(item.available_at), kept * 86_400_000);
    }
  });

  it("stops keeping within a second of saying so, and never began if it never said so", async () => {
    const { deliver, items, storage } = await newTenant(KEEP_ALL);
    await deliver();
    await items(2);
    await storage.call("PUT", "/settings", { json: KEEP_NONE });
    const other = await newTenant(KEEP_NONE);
    await other.deliver();
    // What was loaded before the change serves for half a second.
    await eventually(async () => {
      const delivery = await deliver();
      const counted = await service.database.pool.query(
        "SELECT FROM postern.stored_objects WHERE delivery_id = $1",
        [delivery.id],
      );
      return counted.rowCount === 0;
    });
    assert.deepEqual((await other.storage.library()).items, []);
  });

  it("gets its events delivered while the store is away, and finds their bodies when it is back", async () => {
    const broken = await mkdtemp(join(tmpdir(), "postern-broken-"));
    // Where the folder of artifacts should be there is a file.
    await writeFile(join(broken, "storage"), "");
    const other = await startTestService({ env: { DATA_DIR: broken } });
    try {
      const storage = storageOf(other);
      await storage.call("PUT", "/settings", { json: KEEP_ALL });
      const { endpoint } = await createEndpoint(other, { url: other.receiver.url });
      await publish(other);
      await eventually(async () => (await listDeliveries(other, endpoint.id, "?status=delivered"))[0]);
      await eventually(async () => /^storage_bodies_waiting 1$/m.test(await metricsOf(other)));
      await rm(join(broken, "storage"));
      const item = await eventually(async () => (await storage.library()).items[0]);
      assert.equal(item.kind, "request_body");
      await eventually(async () => /^storage_bodies_waiting 0$/m.test(await metricsOf(other)));
      const kept = /^storage_artifacts_total\{kind="request_body",outcome="kept",reason=""\} 1$/m;
      assert.match(await metricsOf(other), kept);
    } finally {
      await other.stop();
      await rm(broken, { recursive: true, force: true });
    }
  });

  it("gets its events delivered while too many of its bodies wait, and the loss is counted; others keep theirs", async () => {
    const { pool } = service.database;
    const [{ as, deliver, storage }, other] = [await newTenant(KEEP_ALL), await newTenant(KEEP_ALL)];
    await pool.query(
      `INSERT INTO postern.bodies_to_keep (tenant_id, endpoint_id, delivery_id, attempt, kind, due_at)
        SELECT $1, gen_random_uuid(), gen_random_uuid(), 1, 'request_body', now() + interval '1 day'
        FROM generate_series(1, 200000)`,
      [as.tid],
    );
    await eventually(async () => /^storage_bodies_waiting 200000$/m.test(await metricsOf(service)));
    await deliver();
    const lost =
      /storage_artifacts_total\{kind="(?:request|response)_body",outcome="lost",reason="backlog"\} 1\n/g;
    assert.equal((await metricsOf(service)).match(lost)?.length, 2);
    assert.deepEqual((await storage.library()).items, []);
    await other.deliver();
    await other.items(2);
    await pool.query("DELETE FROM postern.bodies_to_keep WHERE tenant_id = $1", [as.tid]);
    await eventually(async () => /^storage_bodies_waiting 0$/m.test(await metricsOf(service)));
    // There is room again, for this process too.
    await deliver();
    await eventually(async () => (await storage.library()).items.length === 2);
  });
});

async function metricsOf(of: TestService): Promise<string> {
  return (await of.call("GET", "/metrics", { as: null })).text;
}

describe("the settings", () => {
  it("are a tenant's own, off at first, and changed by settings:write alone", async () => {
    const storage = storageOf(service, { ...OWNER, tid: "chooser" });
    assert.deepEqual((await storage.call("GET", "/settings")).body, KEEP_NONE);
    const member = { ...MEMBER, tid: "chooser" };
    assertRefused(await storage.call("PUT", "/settings", { as: member, json: KEEP_ALL }), REFUSED.forbidden);
    assertRefused(await storage.call("GET", "/settings", { as: null }), REFUSED.unauthorized);
    for (const chosen of [{ ...KEEP_ALL, artifact_days: 7 }, { ...KEEP_NONE, artifact_days: 8 }, KEEP_NONE]) {
      await storage.call("PUT", "/settings", { json: chosen });
      assert.deepEqual((await storage.call("GET", "/settings", { as: member })).body, chosen);
    }
    assert.deepEqual((await storageOf(service, OTHER_OWNER).call("GET", "/settings")).body, KEEP_NONE);
  });

  it("are refused where a member is absent, of another type or not known", async () => {
    const storage = storageOf(service);
    const faults = async (json: unknown) =>
      Object.keys(issuesOf(await storage.call("PUT", "/settings", { json }))).sort();
    assert.deepEqual(await faults({}), ["artifact_days", "keep_request_bodies", "keep_response_bodies"]);
    assert.deepEqual(await faults({ ...KEEP_ALL, keep_request_bodies: 1 }), ["keep_request_bodies"]);
    for (const artifact_days of [true, 0, 3651, 1.5, "7"]) {
      assert.deepEqual(await faults({ ...KEEP_ALL, artifact_days }), ["artifact_days"]);
    }
    assert.deepEqual(await faults({ ...KEEP_ALL, more: 1 }), [""]);
  });
});

describe("the library", () => {
  it("goes on behind its next, newest first, and can be asked for one kind", async () => {
    const { deliver, items, storage } = await newTenant(KEEP_ALL);
    for (let n = 0; n < 3; n++) await deliver({ n });
    const all = await items(6);
    const seen: Artifact[] = [];
    let next: string | null = "";
    while (next !== null) {
      const page = await storage.library(`?limit=4${next && `&after=${encodeURIComponent(next)}`}`);
      seen.push(...page.items);
      next = page.next;
    }
    assert.deepEqual(seen, all);
    const requests = await storage.library("?kind=request_body");
    assert.deepEqual(
      requests.items,
      all.filter(({ kind }) => kind === "request_body"),
    );
    const bad = await storage.call("GET", "/library?limit=101&after=nothing&kind=zip");
    assert.deepEqual(Object.keys(issuesOf(bad, "Invalid query")).sort(), ["after", "kind", "limit"]);
    assertRefused(await storage.call("GET", "/library", { as: null }), REFUSED.unauthorized);
  });
});

describe("one artifact", () => {
  it("is shown and given to its tenant alone, under its own delivery", async () => {
    const { deliver, items, storage, as } = await newTenant(KEEP_ALL);
    await deliver();
    const item = first(await items(2));
    assert.deepEqual((await storage.call("GET", `/objects/${item.id}`)).body, { object: item });
    const stranger = storageOf(service, OTHER_OWNER);
    const json = { delivery_id: item.delivery_id };
    assertRefused(await stranger.call("GET", `/objects/${item.id}`), REFUSED.notFound);
    assertRefused(await stranger.call("POST", `/objects/${item.id}/download`, { json }), REFUSED.notFound);
    for (const id of [UNKNOWN_ID, item.id.toUpperCase(), "x"]) {
      assertRefused(await storage.call("GET", `/objects/${id}`), REFUSED.notFound);
      assertRefused(await storage.call("POST", `/objects/${id}/download`, { json }), REFUSED.notFound);
    }
    const download = `/objects/${item.id}/download`;
    const elsewhere = { delivery_id: UNKNOWN_ID };
    assertRefused(await storage.call("POST", download, { json: elsewhere }), REFUSED.notFound);
    assertRefused(await storage.call("POST", download, { as: null, json }), REFUSED.unauthorized);
    const nobody = { type: "user", tid: as.tid ?? "", permissions: [] };
    assertRefused(await storage.call("POST", download, { as: nobody, json }), REFUSED.forbidden);
    for (const ttl_seconds of [true, 0, 604_801, 1.5, "60"]) {
      const answer = await storage.call("POST", download, { json: { ...json, ttl_seconds } });
      assert.deepEqual(Object.keys(issuesOf(answer)), ["ttl_seconds"]);
    }
  });

  it("is given by a link that no cache keeps and that is recorded without its text", async () => {
    const { deliver, items, storage } = await newTenant(KEEP_ALL);
    await deliver();
    const item = first(await items(2));
    const { url, expires_at, headers } = await storage.link(item, { ttl_seconds: 60 });
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.match(url, /X-Amz-Expires=60&/);
    const { rows } = await service.database.pool.query(
      "SELECT expires_at FROM postern.storage_grants WHERE object_id = $1",
      [item.id],
    );
    assert.deepEqual(
      rows.map((row) => row["expires_at"].toISOString()),
      [expires_at],
    );
  });

  it("is 409 while it is not there, and 410 from its deadline on", async () => {
    const { deliver, items, storage } = await newTenant(KEEP_ALL);
    await deliver();
    const [one, two] = await items(2);
    assert.ok(one !== undefined && two !== undefined);
    const { pool } = service.database;
    const ask = ({ id, delivery_id }: Artifact) =>
      storage.call("POST", `/objects/${id}/download`, { json: { delivery_id } });
    await pool.query("UPDATE postern.stored_objects SET state = 'missing' WHERE id = $1", [one.id]);
    assertRefused(await ask(one), [409, { error: "Not available" }]);
    await pool.query("UPDATE postern.stored_objects SET deadline = now() WHERE id = $1", [two.id]);
    assertRefused(await ask(two), [410, { error: "Gone" }]);
    await pool.query("UPDATE postern.stored_objects SET state = 'purged' WHERE id = $1", [two.id]);
    assertRefused(await ask(two), [410, { error: "Gone" }]);
    assertRefused(await storage.call("GET", `/objects/${two.id}`), REFUSED.notFound);
  });
});

async function status(link: string, init: RequestInit = {}): Promise<number> {
  const answer = await fetch(link, init);
  await answer.arrayBuffer();
  return answer.status;
}

describe("a link", () => {
  it("gives the bytes and ranges of them, and is refused in every other form", async () => {
    const { deliver, items, storage } = await newTenant({ ...KEEP_ALL, keep_request_bodies: false });
    await deliver();
    const item = first(await items(1));
    const { url } = await storage.link(item);
    assert.equal(await status(url), 200);
    const range = await fetch(url, { headers: { range: "bytes=2-5" } });
    assert.deepEqual([range.status, await range.text()], [206, "éé"]);
    const { length } = Buffer.from(await (await fetch(url)).arrayBuffer());
    const beyond = await fetch(url, { headers: { range: `bytes=${length}-` } });
    assert.deepEqual([beyond.status, beyond.headers.get("content-range")], [416, `bytes */${length}`]);
    assert.equal(await status(url, { method: "HEAD" }), 403);
    assert.equal(await status(url, { method: "POST" }), 403);
    assert.equal(await status(url.slice(0, url.indexOf("?"))), 403);
    assert.equal(await status(url.replace("/a/1/", "/a/2/")), 403);
    assert.equal(await status(url.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"))), 403);
    assert.equal(await status(url.replace("X-Amz-Expires=300", "X-Amz-Expires=301")), 403);
    const short = await storage.link(item, { ttl_seconds: 1 });
    await eventually(async () => (await status(short.url)) === 403);
    assert.equal(await status(url), 200);
  });
});
