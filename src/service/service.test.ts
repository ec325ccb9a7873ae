/** A process on three databases: what works on each, and what is left of one that ended or did not start. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { after, afterEach, before, describe, it, mock } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { createEndpoint, listDeliveries } from "../../test/support/api.ts";
import { eventually } from "../../test/support/eventually.ts";
import { storageOf } from "../../test/support/exports.ts";
import { joinedShards } from "../../test/support/joined-shards.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { catchWaits } from "../../test/support/caught-waits.ts";
import { clientOf } from "../../test/support/pull.ts";
import { startTestService, type TestService } from "../../test/support/service.ts";
import { BACKEND, ok, owner, producer } from "../../test/support/shard-programs.ts";
import { newTenants } from "../../test/support/shards.ts";
import { event, newEndpoint } from "../../test/support/store-inputs.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import {
  listen,
  startReceiver,
  type ReceivedRequest,
  type TlsReceiver,
} from "../../test/support/tls-receiver.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { makeSecrets, readConfig, type Environment } from "../config.ts";
import { insertHandovers } from "../queue/postgres/handover-store.ts";
import { readMigrations } from "../database/schema/migration-files.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeParts } from "./parts.ts";
import { startService } from "./service.ts";
import type { ServiceOptions } from "./service-options.ts";

/** As an operator sees them. */
const CONNECTIONS = [
  "postern api+worker",
  "postern api+worker status",
  "postern directory",
  "postern listener",
  "postern worker session",
];
const NAMES = ["eu1", "eu2", "eu3"];
const KEEP_REQUESTS = { keep_request_bodies: true, keep_response_bodies: false, artifact_days: null };
const MIGRATIONS = join(import.meta.dirname, "../../migrations");
const of = joinedShards(NAMES);

afterEach(() => mock.restoreAll());

const shards = () => NAMES.map((name) => `${name}=${of(name).url}`).join("|");

async function optionsOf(env: Environment = {}): Promise<ServiceOptions> {
  const settings = { PORT: "0", DATA_DIR: temporaryPath("service"), SHARDS: shards() };
  const config = readConfig({ ...makeSecrets(), ...settings, ...env });
  return {
    config,
    catalog: await openCatalog(undefined),
    databaseUrl: of("eu1").url,
    migrations: await readMigrations(MIGRATIONS),
    roles: new Set(["api", "worker"]),
    log: makeLog("silent"),
  };
}

/** The names of a process's connections to the database. */
async function connected(name: string): Promise<string[]> {
  const { rows } = await of(name).pool.query<{ name: string }>(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity
      WHERE datname = current_database() AND backend_type = 'client backend'
        AND application_name <> 'postern test' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

async function noneConnected(): Promise<void> {
  for (const name of NAMES) await eventually(async () => (await connected(name)).length === 0);
}

async function count(name: string, what: string): Promise<number> {
  const { rows } = await of(name).pool.query<{ count: number }>(`SELECT count(*)::int FROM postern.${what}`);
  return rows[0]?.count ?? assert.fail();
}

const isTo = (tid: string) => (request: ReceivedRequest) => request.path.endsWith(`/${tid}`);

async function whyNotStarted(options: ServiceOptions): Promise<unknown> {
  const started = await startService(options).catch((error: unknown) => ({ error }));
  if ("error" in started) return started.error;
  await started.stop();
  return assert.fail("it has started");
}

describe("a start that fails", () => {
  let taken: Server;
  let port: number;
  before(async () => {
    taken = createServer();
    port = await listen(taken);
  });
  after(() => taken.close());

  it("since the last shard's bucket is not safe, says which, and leaves no connection behind", async (test) => {
    const store = createServer(({ url = "" }, answer) => {
      const isVersioned = !url.startsWith("/artifacts-eu3");
      const versioning = `<Status>${isVersioned ? "Enabled" : "Suspended"}</Status>`;
      if (url.includes("?versioning"))
        answer.end(`<VersioningConfiguration>${versioning}</VersioningConfiguration>`);
      else answer.writeHead(501).end("<Error><Code>NotImplemented</Code></Error>");
    });
    const endpoint = `http://127.0.0.1:${await listen(store)}`;
    test.after(async () => {
      store.close().closeAllConnections();
      await once(store, "close");
    });
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "y" });
    const OBJECT_STORE_URL = `s3://artifacts?region=us-east-1&endpoint=${endpoint}`;
    const options = await optionsOf({ OBJECT_STORE_URL });
    const { log, lines } = makeKeptLog();
    const error = await whyNotStarted({ ...options, log });
    assert.match(String(error), /^ConfigError: The bucket artifacts-eu3 is not safe/);
    await noneConnected();
    const told = lines.filter(({ rule, level }) => rule === "BR-04" || level === 50).map(({ rule }) => rule);
    assert.deepEqual(told, ["BR-04"]);
  });

  it("since its port is taken, leaves no connection and no worker behind", async () => {
    const error = await whyNotStarted(await optionsOf({ PORT: String(port) }));
    assert.match(String(error), /EADDRINUSE/);
    await noneConnected();
    for (const name of NAMES) {
      assert.deepEqual([await count(name, "workers"), await count(name, "heartbeats")], [0, 0], name);
    }
  });
});

describe("a process on three databases", () => {
  let receiver: TlsReceiver;
  let service: TestService;
  const tenants = NAMES.map(newTenants(NAMES, "several"));
  const left = {
    ...newEndpoint({ tenantId: tenants[2] ?? tenant("acme") }),
    mode: "pull",
    temporary: true,
  } as const;
  before(async () => {
    await insertEndpoint(of("eu3").pool, left);
    await of("eu3").pool.query("UPDATE postern.endpoints SET temporary_until = now() - interval '1 min'");
    receiver = await startReceiver({
      respond: ({ path }) => ({ status: path.includes("/broken-") ? 500 : 200 }),
    });
    service = await startTestService({
      database: of("eu1"),
      receiver,
      // A person waits for ever who is not told that a client has acknowledged.
      senderLimits: { attemptTimeoutMs: 600_000 },
      // An address at which this process does not reach itself.
      env: { DATABASE_URL: undefined, SHARDS: shards(), PUBLIC_URL: "https://hooks.example.com" },
    });
  });
  after(() => receiver.close());

  it("keeps the artifacts of each in a folder of its own, with links to the port that the system chose", async () => {
    const options = await optionsOf();
    const { dataDir } = options.config;
    const parts = await makeParts(options);
    parts.listensOn(4711);
    const lock = { applicationName: "postern reconcile", connectionTimeoutMs: 3000, role: "postern_worker" };
    assert.deepEqual(
      parts.stores.map(({ bucket, config, reconciling }) => ({
        name: bucket.name,
        dataDir: config.dataDir,
        endpoint: bucket.endpoint(),
        isSame: reconciling.bucket === bucket,
        lock: reconciling.lock,
      })),
      NAMES.map((name, place) => ({
        name: place === 0 ? "artifacts" : `artifacts-${name}`,
        dataDir: place === 0 ? dataDir : join(dataDir, "shards", name),
        endpoint: { scheme: "http", host: "127.0.0.1:4711", path_prefix: "/api/storage/files" },
        isSame: true,
        lock: { ...lock, url: of(name).url },
      })),
    );
    await parts.close();
  });

  it("takes, delivers and counts events in each, and sends a person's test from each", async () => {
    for (const tid of tenants) {
      const as = owner(tid);
      const url = `${receiver.url}/${tid}`;
      await ok(service.call("PUT", "/api/storage/settings", { as, json: KEEP_REQUESTS }), 200);
      const { endpoint } = await createEndpoint(service, { url }, { as });
      const json = { event_type: "invoice.paid" };
      await ok(service.call("POST", `/api/webhooks/${endpoint.id}/test`, { as, json }), 200);
    }
    // Two of each are one commit, and count as two.
    const json = [...tenants, ...tenants].map((tenant_id) => ({ type: "invoice.paid", data: {}, tenant_id }));
    await ok(service.call("POST", "/api/events", { as: BACKEND, json }), 202);
    for (const tid of tenants) {
      await eventually(async () => receiver.requests.filter(isTo(tid)).length === 3);
    }
    const { text } = await ok(service.call("GET", "/metrics", { as: null }), 200);
    const counted = [...text.matchAll(/^webhook_events_accepted_total\{shard="(.*)"\} (\d+)$/gm)];
    assert.deepEqual(
      counted.map(([, name, total]) => [name, total]),
      NAMES.map((name) => [name, "2"]),
    );
  });

  it("serves what tenants keep from the folder of each", async () => {
    for (const tid of tenants) {
      const storage = storageOf(service, owner(tid));
      const [item] = await eventually(async () => {
        const { items } = await storage.library();
        return items.length === 3 && items;
      });
      assert.ok(item !== undefined);
      const { url } = await storage.link(item);
      const answer = await fetch(url.replace("https://hooks.example.com", service.url));
      assert.deepEqual([answer.status, (await answer.text()).includes("invoice.paid")], [200, true]);
    }
  });

  it("delivers in each what was published in another by SQL", async () => {
    for (const name of NAMES) {
      await eventually(async () => (await count(name, "event_types WHERE type = 'invoice.paid'")) === 1);
      for (const tid of tenants)
        await of(name).pool.query(`SELECT postern.publish($1, 'invoice.paid', '{}')`, [tid]);
    }
    for (const tid of tenants) {
      await eventually(async () => receiver.requests.filter(isTo(tid)).length === 6);
    }
  });

  it("sends again in each what a person asks for", async () => {
    for (const tid of tenants) {
      const as = owner(tid);
      const url = `${receiver.url}/broken-${tid}`;
      const { endpoint } = await createEndpoint(service, { url, events: ["invoice.paid"] }, { as });
      const json = { type: "invoice.paid", data: {} };
      await ok(service.call("POST", "/api/events", { as: producer(tid), json }), 202);
      const [failed] = await eventually(async () => {
        const found = await listDeliveries(service, endpoint.id, "?status=failed", { as });
        return found.length === 1 && found;
      });
      const retry = `/api/webhooks/${endpoint.id}/deliveries/${failed?.id}/retry`;
      await ok(service.call("POST", retry, { as }), 200);
      assert.equal(receiver.requests.filter(isTo(`broken-${tid}`)).length, 2);
    }
  });

  it("tells persons of acknowledgements in each, ends clients' leases, and removes an endpoint that its client has left", async () => {
    for (const [place, tid] of tenants.entries()) {
      const as = owner(tid);
      const { endpoint } = await createEndpoint(service, { url: receiver.url, mode: "pull" }, { as });
      const client = clientOf(service, endpoint.id, as);
      const test = { as, json: { event_type: "invoice.paid" } };
      const asking = service.call("POST", `/api/webhooks/${endpoint.id}/test`, test);
      const offered = await client.lease({ wait_s: 20 });
      await client.ack(
        offered,
        offered.events.map(({ id }) => ({ id })),
      );
      await ok(asking, 200);
      const json = { type: "invoice.paid", data: {} };
      await ok(service.call("POST", "/api/events", { as: producer(tid), json }), 202);
      assert.equal((await client.lease()).events.length, 1);
      await of(NAMES[place] ?? "").pool.query(
        "UPDATE postern.dispatches SET claimable_at = now() WHERE lease_owner IS NOT NULL AND endpoint_id = $1",
        [endpoint.id],
      );
      await eventually(
        async () => (await listDeliveries(service, endpoint.id, "?status=failed", { as })).length === 1,
      );
    }
    await eventually(
      async () => (await count("eu3", `endpoints WHERE id = '${left.id}' AND deleted_at IS NOT NULL`)) === 1,
    );
  });

  it("has connections, a worker and a sign of life in each", async () => {
    for (const name of NAMES) {
      await eventually(async () => isDeepStrictEqual(await connected(name), CONNECTIONS));
      assert.deepEqual([await count(name, "workers"), await count(name, "heartbeats")], [1, 1], name);
    }
    const { text } = await ok(service.call("GET", "/metrics", { as: null }), 200);
    assert.doesNotMatch(text, /^webhook_upkeep_failures_total\{.*work="free_leases"/m);
  });

  it("leaves none of these behind when it stops", async () => {
    await service.stop();
    await noneConnected();
    await assert.rejects(fetch(`${service.url}/health`));
    for (const name of NAMES) assert.equal(await count(name, "workers"), 0, name);
  });

  it("works on one that was away at the start once it is found to be its own", async () => {
    await of("eu2").pool.query("DELETE FROM postern.heartbeats");
    const tenantId = newTenants(NAMES, "late")("eu1");
    for (const name of NAMES) await insertHandovers(of(name).pool, [event({ tenantId }, null)]);
    const joined = Promise.withResolvers<void>();
    const absentShards = new Map([["eu2", joined.promise]]);
    const started = await startService({ ...(await optionsOf()), absentShards });
    for (const name of ["eu1", "eu3"]) {
      await eventually(async () => (await count(name, "workers")) === 1);
      await eventually(async () => (await count(name, "handovers")) === 0);
    }
    assert.deepEqual([await count("eu2", "workers"), await count("eu2", "heartbeats")], [0, 0]);
    assert.equal(await count("eu2", "handovers WHERE shard IS NULL"), 1);
    joined.resolve();
    await eventually(async () => (await count("eu2", "workers")) === 1);
    await eventually(async () => (await count("eu2", "handovers")) === 0);
    await started.stop();
    await noneConnected();
  });
});

describe("an API alone", () => {
  it("says where it listens and what it is, on connections of that name, and starts no worker", async () => {
    const { log, lines } = makeKeptLog();
    const options = await optionsOf({ DATABASE_URL: of("eu1").url, SHARDS: undefined });
    const service = await startService({ ...options, log, roles: new Set(["api"]) });
    assert.deepEqual(lines.at(-1), { level: 30, address: service.address, roles: ["api"] });
    const names = ["postern api", "postern api status"];
    await eventually(async () => isDeepStrictEqual(await connected("eu1"), names));
    assert.equal(await count("eu1", "workers"), 0);
    await service.stop();
    assert.deepEqual(lines.at(-1), { level: 30 });
    await noneConnected();
  });

  it("leases nothing, has a first attempt wait as long as the schedule says, and holds it with its endpoint", async () => {
    const env = { DATABASE_URL: undefined, SHARDS: shards(), RETRY_SCHEDULE: "1h" };
    const alone = await startTestService({ database: of("eu1"), roles: ["api"], env });
    const tid = newTenants(NAMES, "alone")("eu2");
    const as = owner(tid);
    const { endpoint } = await createEndpoint(alone, { url: alone.receiver.url }, { as });
    const json = { type: "invoice.paid", data: {} };
    await ok(alone.call("POST", "/api/events", { as: producer(tid), json }), 202);
    const waiting = `dispatches WHERE endpoint_id = '${endpoint.id}' AND lease_owner IS NULL
      AND due_at > now() + interval '59 min'`;
    assert.equal(await count("eu2", `${waiting} AND NOT held`), 1);
    await ok(alone.call("PATCH", `/api/webhooks/${endpoint.id}`, { as, json: { enabled: false } }), 200);
    // In its shard, where a worker of another process would do it later.
    assert.equal(await count("eu2", `${waiting} AND held`), 1);
    await alone.stop();
  });

  it("does not wait beyond their time for requests that do not end", async () => {
    const options = await optionsOf({ DATABASE_URL: of("eu1").url, SHARDS: undefined });
    const service = await startService({ ...options, roles: new Set(["api"]) });
    const socket = connect(Number(new URL(service.address).port), "127.0.0.1");
    const head = "HTTP/1.1\r\nHost: postern\r\n";
    socket.on("error", () => undefined).write(`GET /health ${head}\r\nGET /health ${head}`);
    // The second request has begun as well by then.
    await once(socket, "data");
    const waits = catchWaits(17_000);
    const cleared = mock.method(globalThis, "clearTimeout");
    let isStopped = false;
    const stopping = service.stop().then(() => (isStopped = true));
    await eventually(() =>
      fetch(`${service.address}/health`).then(
        () => false,
        () => true,
      ),
    );
    assert.deepEqual([isStopped, waits.length], [false, 1]);
    for (const { end } of waits) end();
    await stopping;
    const timers = new Set(cleared.mock.calls.map(({ arguments: [timer] }) => timer));
    assert.ok(waits.every(({ timer }) => timers.has(timer)));
    await eventually(async () => socket.closed);
    await noneConnected();
  });
});
