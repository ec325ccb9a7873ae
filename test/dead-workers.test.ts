/**
 * Workers that die, lose their session or stand still, beside one that works on. Leases
 * are made to last for an hour in the table, so that none of this is their end.
 */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { Environment } from "../src/config.ts";
import { createEndpoint, publishMany } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const HELD = 30;
const LOCK_KEY = "hashtextextended('postern.worker ' || $1, 0)";

let database: TestDatabase;
let receiver: TlsReceiver;
let env: Environment;
let programs: Program[] = [];
let gate = Promise.withResolvers<void>();

beforeEach(async () => {
  gate = Promise.withResolvers();
  database = await createTestDatabase();
  // Soon after a start of the server no worker is taken for dead.
  await eventually(
    async () =>
      (await count(
        "FROM (SELECT) AS one WHERE pg_postmaster_start_time() < now() - interval '21 seconds'",
      )) === 1,
  );
  receiver = await startReceiver({
    async respond(request) {
      if (request.path.endsWith("/slow")) await gate.promise;
      return {};
    },
  });
  env = await sharedSettings(database.url, receiver.caPem);
});
afterEach(async () => {
  gate.resolve();
  await Promise.all(programs.map((program) => program.end("SIGKILL")));
  programs = [];
  await receiver.close();
  await database.drop();
});

async function start(role: string): Promise<Program> {
  const program = await startProgram([role], env);
  programs.push(program);
  return program;
}

async function count(sql: string, values: unknown[] = []): Promise<number> {
  const { rows } = await database.pool.query(`SELECT count(*)::int AS count ${sql}`, values);
  return Number(rows[0]?.["count"]);
}

const leasesOf = (worker: string) =>
  count("FROM postern.dispatches WHERE left(lease_owner::text, 18) = left($1, 18)", [worker]);

const requests = (path: string) => receiver.requests.filter((request) => request.path.endsWith(path));

/** A worker that has leased everything for an endpoint that does not answer: some in flight, the rest in its lane. */
async function holdLeases() {
  const api = await start("api");
  await createEndpoint(api, { url: `${receiver.url}/slow`, events: ["payment.failed"] });
  await createEndpoint(api, { url: `${receiver.url}/quick`, events: ["invoice.paid"] });
  const holder = await start("worker");
  const worker = await eventually(async () => {
    const { rows } = await database.pool.query<{ id: string }>(
      "SELECT first_lease_id::text AS id FROM postern.workers",
    );
    return rows[0]?.id;
  });
  await publishMany(api, "payment.failed", HELD);
  await eventually(async () => (await leasesOf(worker)) === HELD && requests("/slow").length === 8);
  await database.pool.query(
    "UPDATE postern.dispatches SET claimable_at = claimable_at + interval '1 minute'",
  );
  return { api, holder, worker };
}

/** A second worker, which has seen the first to be silent or without a lock for longer than a dead one is left alone. */
async function watchFor(seconds: number, api: Program): Promise<Program> {
  const other = await start("worker");
  const { rows } = await database.pool.query<{ since: string }>("SELECT now()::text AS since");
  const since = rows[0]?.since;
  await eventually(
    async () =>
      (await count("FROM (SELECT) AS one WHERE now() > $1::timestamptz + $2 * interval '1 second'", [
        since,
        seconds,
      ])) === 1,
  );
  await publishMany(api, "invoice.paid", 1);
  await eventually(async () => requests("/quick").length > 0);
  assert.doesNotMatch(other.output(), /a worker died/);
  return other;
}

/** By this worker alone, and recorded. */
async function attemptsOf(worker: Program): Promise<number> {
  const { text } = await worker.call("GET", "/metrics", { as: null });
  const counts = text.matchAll(/^webhook_delivery_attempts_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, number]) => sum + Number(number), 0);
}

const isEmpty = async () => (await count("FROM postern.dispatches")) === 0;

const sentIds = () => requests("/slow").map((request) => String(request.headers["webhook-id"]));

function timesSent(): number[] {
  const ids = sentIds();
  return [...new Set(ids)].map((id) => ids.filter((other) => other === id).length);
}

describe("a worker that is killed", () => {
  it("loses its leases to another, long before they end", async () => {
    const { holder, worker } = await holdLeases();
    const other = await start("worker");
    await holder.end("SIGKILL");
    // On a slow machine some of it has timed out by then, and is retried.
    const started = new Set(sentIds());
    gate.resolve();
    await eventually(isEmpty);
    assert.equal(timesSent().length, HELD);
    const repeated = sentIds().filter((id, n, all) => all.indexOf(id) < n);
    assert.deepEqual(new Set(repeated), started, "only what was in flight is repeated");
    await eventually(
      async () => (await count("FROM postern.workers WHERE first_lease_id = $1", [worker])) === 0,
    );
    assert.match(other.output(), /a worker died/);
  });

  it("leaves no row when it stops in order", async () => {
    const { holder } = await holdLeases();
    gate.resolve();
    assert.deepEqual(await holder.end("SIGTERM"), { code: 0, signal: null });
    assert.equal(await count("FROM postern.workers"), 0);
  });
});

describe("a living worker without its session", () => {
  it("starts nothing until it has one again, and is not taken for dead", async () => {
    const { api, holder, worker } = await holdLeases();
    const thief = await database.pool.connect();
    try {
      // Whoever has the lock to himself keeps the worker from having it again. Next in
      // turn before the worker loses it, he has it before the worker asks anew.
      const stolen = thief.query(`SELECT pg_advisory_lock(${LOCK_KEY})`, [worker]);
      await eventually(async () => {
        const { rowCount } = await database.pool.query(
          `SELECT pg_terminate_backend(l.pid) FROM pg_locks l
            WHERE l.locktype = 'advisory' AND l.granted AND ((l.classid::bigint << 32) | l.objid::bigint) = ${LOCK_KEY}
              AND EXISTS (SELECT FROM pg_stat_activity WHERE l.pid = ANY (pg_blocking_pids(pid)))`,
          [worker],
        );
        return rowCount === 1;
      });
      await stolen;
      await eventually(async () => holder.output().includes("session is lost"));
      gate.resolve();
      await eventually(async () => (await attemptsOf(holder)) === 8);
      const other = await watchFor(8, api);
      assert.equal(await attemptsOf(holder), 8);
      await other.end("SIGTERM");
    } finally {
      thief.release(true);
    }
    await publishMany(api, "payment.failed", 1);
    await eventually(isEmpty);
    assert.deepEqual(
      timesSent(),
      Array.from({ length: HELD + 1 }, () => 1),
    );
  });
});

describe("a worker that stands still", () => {
  it("keeps its leases, and sends what it held once it goes on", async () => {
    const { api, holder, worker } = await holdLeases();
    const inFlight = new Set(requests("/slow").map((request) => request.headers["webhook-id"]));
    holder.signal("SIGSTOP");
    await watchFor(8, api);
    assert.equal(await leasesOf(worker), HELD);
    assert.equal(requests("/slow").length, inFlight.size);
    holder.signal("SIGCONT");
    gate.resolve();
    await eventually(isEmpty);
    const waited = requests("/slow").filter((request) => !inFlight.has(request.headers["webhook-id"]));
    assert.equal(waited.length, HELD - inFlight.size);
  });
});
