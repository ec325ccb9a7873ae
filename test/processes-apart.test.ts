/** API and worker as processes of their own: killed in turn, stopped with work in hand, and their connections. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { Environment } from "../src/config.ts";
import { createEndpoint, listDeliveries, publish, publishMany } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

let database: TestDatabase;
let receiver: TlsReceiver;
let env: Environment;
let gate: PromiseWithResolvers<void> | null = null;
let programs: Program[] = [];

before(async () => {
  receiver = await startReceiver({
    async respond() {
      await gate?.promise;
      return {};
    },
  });
});
afterEach(async () => {
  gate?.resolve();
  gate = null;
  await Promise.all(programs.map((program) => program.end("SIGKILL")));
  programs = [];
  await database.drop();
});
after(() => receiver.close());

async function begin(settings: Environment = {}): Promise<void> {
  database = await createTestDatabase();
  env = { ...(await sharedSettings(database.url, receiver.caPem)), ...settings };
}

async function start(role: "api" | "worker" | "up"): Promise<Program> {
  const program = await startProgram([role], env);
  programs.push(program);
  return program;
}

async function query(sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await database.pool.query(sql, [...values])).rows;
}

const UNDELIVERED =
  "SELECT id FROM postern.events EXCEPT SELECT event_id FROM postern.deliveries WHERE status = 'delivered'";

describe("kill -9 of one role", () => {
  it("loses no accepted event when it hits the API amid requests", async () => {
    await begin();
    const [api] = [await start("api"), await start("worker")];
    await createEndpoint(api, { url: receiver.url });
    const requests = Array.from({ length: 200 }, () => publish(api));
    await Promise.race(requests);
    await api.end("SIGKILL");
    const answers = await Promise.allSettled(requests);
    const accepted = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value.id] : []));
    assert.ok(accepted.length > 0);
    const successor = await start("api");
    accepted.push((await publish(successor)).id);
    await eventually(async () => (await query(UNDELIVERED)).length === 0);
    const stored = new Set((await query("SELECT id FROM postern.events")).map((row) => row["id"]));
    assert.deepEqual(
      accepted.filter((id) => !stored.has(id)),
      [],
    );
  });

  it("loses no accepted event when it hits the worker amid attempts", async () => {
    await begin();
    gate = Promise.withResolvers();
    const [api, worker] = [await start("api"), await start("worker")];
    await createEndpoint(api, { url: `${receiver.url}/worker` });
    await publishMany(api, "payment.failed", 300);
    await eventually(async () => receiver.requests.some(({ path }) => path.endsWith("/worker")));
    await worker.end("SIGKILL");
    gate.resolve();
    gate = null;
    // The dead process's leases are let run out now instead of within a minute.
    await query("UPDATE postern.dispatches SET claimable_at = now()");
    await start("worker");
    await eventually(async () => (await query("SELECT FROM postern.dispatches LIMIT 1")).length === 0);
    assert.deepEqual(await query(UNDELIVERED), []);
    assert.equal((await query("SELECT FROM postern.events")).length, 300);
  });
});

describe("SIGTERM of a worker", () => {
  it("gives back the leases of what waits in its lanes", async () => {
    await begin();
    const [api, worker] = [await start("api"), await start("worker")];
    await createEndpoint(api, { url: receiver.url, rate_limit: 1 });
    await publishMany(api, "payment.failed", 200);
    await eventually(
      async () => (await query("SELECT FROM postern.dispatches WHERE lease_owner IS NOT NULL")).length > 150,
    );
    assert.deepEqual(await worker.end("SIGTERM"), { code: 0, signal: null });
    const left = await query(
      "SELECT lease_owner IS NULL AND claimable_at <= now() AS is_free FROM postern.dispatches",
    );
    assert.ok(left.length > 150);
    assert.deepEqual(
      left.filter((row) => row["is_free"] !== true),
      [],
    );
  });
});

describe("DATABASE_POOL_SIZE", () => {
  for (const [commands, names] of [
    [
      ["api", "worker"],
      ["postern api", "postern worker"],
    ],
    [["up"], ["postern api+worker"]],
  ] as const) {
    it(`bounds the connections of each process of ${commands.join(" and ")} under load`, async () => {
      await begin({ DATABASE_POOL_SIZE: "3" });
      const [api] = await Promise.all(commands.map(start));
      assert.ok(api !== undefined);
      const { endpoint } = await createEndpoint(api, { url: receiver.url });
      const load = Promise.all([
        ...Array.from({ length: 300 }, () => publish(api)),
        ...Array.from({ length: 20 }, () => listDeliveries(api, endpoint.id)),
      ]);
      const most = new Map<string, number>();
      await eventually(async () => {
        const rows = await query(
          "SELECT application_name AS name, count(*)::int AS connections FROM pg_stat_activity WHERE datname = current_database() AND application_name = ANY ($1) GROUP BY 1",
          [names],
        );
        for (const { name, connections } of rows)
          most.set(String(name), Math.max(most.get(String(name)) ?? 0, Number(connections)));
        const [row] = await query("SELECT count(*)::int AS n FROM postern.deliveries");
        return row?.["n"] === 300;
      });
      await load;
      assert.deepEqual([...most.keys()].sort(), names);
      assert.ok(
        [...most.values()].every((connections) => connections <= 3),
        JSON.stringify([...most]),
      );
    });
  }
});
