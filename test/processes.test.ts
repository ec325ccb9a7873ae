/** Postern as processes: apart and together, stopped, killed, and without its database. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { makeSecrets, type Environment } from "../src/config.ts";
import { startEmbeddedPostgres } from "../src/database/embedded/embedded.ts";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { runProgram, sharedSettings, startProgram } from "./support/program.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

let database: TestDatabase;
let receiver: TlsReceiver;
let env: Environment;
/** While set, the receiver keeps its answers back. */
let gate: PromiseWithResolvers<void> | null = null;

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver({
    async respond() {
      await gate?.promise;
      return {};
    },
  });
  env = await sharedSettings(database.url, receiver.caPem);
});
after(async () => {
  await receiver.close();
  await database.drop();
});

function deliveredIds(): Set<string> {
  return new Set(receiver.requests.map((request) => String(request.headers["webhook-id"])));
}

describe("API and worker in processes of their own", () => {
  it("deliver together, and neither does the other's work", async () => {
    const api = await startProgram(["api"], env);
    const worker = await startProgram(["worker"], env);
    const { endpoint } = await createEndpoint(api, { url: receiver.url });
    const event = await publish(api);
    await eventually(async () => (await listDeliveries(api, endpoint.id, "?status=delivered"))[0]);
    assert.ok(deliveredIds().has(event.id));
    assert.equal((await worker.call("GET", "/api/webhooks")).status, 404);
    assert.equal((await worker.call("GET", "/health", { as: null })).status, 200);
    assert.equal((await worker.call("GET", "/ready", { as: null })).status, 200);
    assert.deepEqual(await worker.end("SIGTERM"), { code: 0, signal: null });
    assert.deepEqual(await api.end("SIGTERM"), { code: 0, signal: null });
  });
});

describe("a stop", () => {
  it("lets the attempt in flight finish and logs its outcome", async () => {
    gate = Promise.withResolvers();
    const program = await startProgram(["up"], env);
    await createEndpoint(program, { url: receiver.url });
    const event = await publish(program);
    await eventually(async () => deliveredIds().has(event.id));
    const ended = program.end("SIGTERM");
    await eventually(async () => program.output().includes("stopping"));
    gate.resolve();
    gate = null;
    assert.deepEqual(await ended, { code: 0, signal: null });
    const { rows } = await database.pool.query("SELECT status FROM postern.deliveries WHERE event_id = $1", [
      event.id,
    ]);
    assert.ok(rows.length > 0);
    assert.ok(rows.every((row) => row.status === "delivered"));
  });
});

describe("kill -9", () => {
  it("loses no accepted event", async () => {
    gate = Promise.withResolvers();
    const program = await startProgram(["up"], env);
    await createEndpoint(program, { url: receiver.url });
    const accepted = await Promise.all(Array.from({ length: 50 }, () => publish(program)));
    const many = await program.call("POST", "/api/events", {
      as: PRODUCER,
      json: Array.from({ length: 500 }, (_, n) => ({ type: "payment.failed", data: { n } })),
    });
    assert.equal(many.status, 202);
    await program.end("SIGKILL");
    gate.resolve();
    gate = null;

    const successor = await startProgram(["up"], env);
    await eventually(async () => {
      const { rows } = await database.pool.query("SELECT FROM postern.dispatches LIMIT 1");
      return rows.length === 0;
    });
    await successor.end("SIGTERM");
    const { rows } = await database.pool.query(
      "SELECT id FROM postern.events EXCEPT SELECT event_id FROM postern.deliveries WHERE status = 'delivered'",
    );
    assert.deepEqual(rows, []);
    const { rows: events } = await database.pool.query("SELECT id FROM postern.events");
    assert.ok(events.length >= 550);
    const seen = deliveredIds();
    assert.deepEqual(
      accepted.filter((event) => !seen.has(event.id)),
      [],
    );
  });
});

describe("without its database", () => {
  it("answers 503 with Retry-After, lives on, and serves again when the database is back", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "postern-test-"));
    const log = { info: () => undefined, warn: () => undefined };
    const first = await startEmbeddedPostgres({ dataDir, log, openFolder: dataDir });
    const program = await startProgram(["up"], { ...env, DATABASE_URL: first.url });
    assert.equal((await program.call("GET", "/api/webhooks")).status, 200);
    await first.stop();

    const refused = await program.call("GET", "/api/webhooks");
    assert.equal(refused.status, 503);
    assert.deepEqual(refused.body, { error: "Service unavailable" });
    assert.match(refused.headers.get("retry-after") ?? "", /^[0-9]+$/);
    const event = { type: "invoice.paid", data: {} };
    assert.equal((await program.call("POST", "/api/events", { as: PRODUCER, json: event })).status, 503);
    assert.equal((await program.call("GET", "/health", { as: null })).status, 200);
    assert.equal((await program.call("GET", "/ready", { as: null })).status, 503);

    const second = await startEmbeddedPostgres({ dataDir, log, openFolder: dataDir });
    assert.equal(second.url, first.url);
    await eventually(async () => (await program.call("GET", "/ready", { as: null })).status === 200);
    assert.equal((await program.call("GET", "/api/webhooks")).status, 200);
    assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
    await second.stop();
    await rm(dataDir, { recursive: true });
  });
});

describe("a start with wrong settings", () => {
  const cases: [string, Environment, RegExp][] = [
    [
      "no encryption key",
      { INTEGRATION_ENCRYPTION_KEY: undefined },
      /INTEGRATION_ENCRYPTION_KEY is required.*openssl rand/,
    ],
    [
      "a short encryption key",
      { INTEGRATION_ENCRYPTION_KEY: "c2hvcnQ=" },
      /INTEGRATION_ENCRYPTION_KEY must be 32 bytes.*openssl rand/,
    ],
    [
      "no session source",
      { SESSION_JWT_SECRET: undefined },
      /SESSION_JWT_SECRET or SESSION_JWKS_URL is required/,
    ],
    [
      "a short session secret",
      { SESSION_JWT_SECRET: "short" },
      /SESSION_JWT_SECRET must have at least 32 bytes/,
    ],
    [
      "two faults at once",
      { PORT: "x", RETRY_SCHEDULE: "soon" },
      /PORT must be a whole number\n.*RETRY_SCHEDULE must be a duration/,
    ],
  ];
  for (const [name, wrong, message] of cases) {
    it(`stops and says what to do: ${name}`, async () => {
      const { code, output } = await runProgram(["api"], { ...env, ...wrong });
      assert.equal(code, 1);
      assert.match(output, message);
    });
  }

  it("refuses the demonstration in production", async () => {
    const { code, output } = await runProgram(["up", "--demo"], { NODE_ENV: "production", ...makeSecrets() });
    assert.equal(code, 1);
    assert.match(output, /does not run under NODE_ENV=production/);
  });
});
