/** Workers of one database share its endpoints: what holds for an endpoint in one worker holds over all of them. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { Environment } from "../src/config.ts";
import { codeOf } from "../src/shared/error-code.ts";
import { createEndpoint, publishMany } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { runProgram, sharedSettings, startProgram, type Program } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

/** What an endpoint's lane begins with. */
const WIDTH = 8;

let database: TestDatabase;
let receiver: TlsReceiver;
let env: Environment;
let programs: Program[] = [];
let gate = Promise.withResolvers<void>();

beforeEach(async () => {
  gate = Promise.withResolvers();
  database = await createTestDatabase();
  receiver = await startReceiver({
    async respond(request) {
      if (request.path.endsWith("/gated")) await gate.promise;
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

async function start(role: "api" | "worker" | "up"): Promise<Program> {
  const program = await startProgram([role], env);
  programs.push(program);
  return program;
}

/** How many slots each worker has, and how many none has. */
async function parts(): Promise<number[]> {
  const { rows } = await database.pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM postern.slots s LEFT JOIN postern.workers w ON w.first_lease_id = s.owner
      GROUP BY w.first_lease_id ORDER BY w.first_lease_id`,
  );
  return rows.map(({ count }) => count);
}

async function untilParts(...wanted: number[]): Promise<void> {
  await eventually(async () => String(await parts()) === String(wanted));
}

async function untilThree(): Promise<void> {
  await eventually(async () => String((await parts()).toSorted((one, other) => one - other)) === "85,85,86");
}

async function logged(): Promise<{ sentMs: number }[]> {
  const { rows } = await database.pool.query<{ sentMs: number }>(
    `SELECT (extract(epoch FROM sent_at) * 1000)::float8 AS "sentMs" FROM postern.deliveries ORDER BY event_id`,
  );
  return rows;
}

const requests = (path: string) => receiver.requests.filter((request) => request.path.endsWith(path)).length;

describe("workers on one database", () => {
  it("have equal parts of the slots, as they come, stop and are killed", async () => {
    const first = await start("worker");
    await untilParts(256);
    const second = await start("worker");
    await untilParts(128, 128);
    const third = await start("up");
    await untilThree();
    assert.deepEqual(await first.end("SIGTERM"), { code: 0, signal: null });
    await untilParts(128, 128);
    await second.end("SIGKILL");
    await untilParts(256);
    const { text } = await third.call("GET", "/metrics", { as: null });
    assert.match(text, /^webhook_worker_slots 256$/m);
  });

  it("keep an endpoint's rate limit and its order together", async () => {
    const [one, other] = [await start("up"), await start("up")];
    await start("worker");
    await eventually(async () => (await parts()).length === 3);
    const perSecond = 50;
    await createEndpoint(one, { url: `${receiver.url}/limited`, events: ["*"], rate_limit: perSecond });
    const count = 200;
    for (let n = 0; n < count / 20; n++) {
      await publishMany(one, "invoice.paid", 10);
      await publishMany(other, "invoice.paid", 10);
    }
    await eventually(async () => (await logged()).length === count);
    const sent = (await logged()).map(({ sentMs }) => sentMs);
    const tookMs = Math.max(...sent) - Math.min(...sent);
    // A lane may catch up on a tenth of a second. Two that know nothing of each other take half as long.
    const leastMs = (1000 * (count - 1 - perSecond / 10)) / perSecond;
    assert.ok(tookMs >= 0.9 * leastMs, `${count} attempts took ${tookMs} ms`);
  });

  it("have as many attempts in flight at an endpoint as one of them would", async () => {
    const [one, other] = [await start("up"), await start("up")];
    await untilParts(128, 128);
    await createEndpoint(one, { url: `${receiver.url}/gated`, events: ["payment.failed"] });
    await createEndpoint(one, { url: `${receiver.url}/open`, events: ["invoice.paid"] });
    for (const program of [one, other]) await publishMany(program, "payment.failed", 3 * WIDTH);
    await eventually(async () => requests("/gated") >= WIDTH);
    // Both have made attempts since, so both have looked for more.
    for (const program of [one, other]) await publishMany(program, "invoice.paid", 10);
    await eventually(async () => requests("/open") === 20);
    assert.equal(requests("/gated"), WIDTH);
    gate.resolve();
    await eventually(async () => requests("/gated") === 6 * WIDTH);
  });
});

/** An attempt of the first of two workers is in flight, at an endpoint in one of its slots. */
async function inFlight(): Promise<{ api: Program; owner: Program; endpoint: string }> {
  const api = await start("api");
  const owner = await start("worker");
  await untilParts(256);
  const worker = await eventually(async () => {
    const { rows } = await database.pool.query<{ id: string }>(
      "SELECT first_lease_id AS id FROM postern.workers",
    );
    return rows[0]?.id;
  });
  await start("worker");
  await untilParts(128, 128);
  const endpoint = await createEndpointOf(worker, api);
  await publishMany(api, "payment.failed", 1);
  await eventually(async () => requests("/gated") === 1);
  return { api, owner, endpoint };
}

/** Every second one is in a slot of the other worker. */
async function createEndpointOf(worker: string, api: Program): Promise<string> {
  for (;;) {
    const input = { url: `${receiver.url}/gated`, events: ["payment.failed"] };
    const { id } = (await createEndpoint(api, input)).endpoint;
    if ((await slotOf(id)).owner === worker) return id;
    await api.call("DELETE", `/api/webhooks/${id}`);
  }
}

async function slotOf(endpointId: string): Promise<{ owner: string | null; term: number }> {
  const { rows } = await database.pool.query<{ owner: string | null; term: number }>(
    "SELECT owner, term::int FROM postern.slots WHERE slot = ('x' || right($1::text, 2))::bit(8)::int",
    [endpointId],
  );
  const [row] = rows;
  assert.ok(row !== undefined);
  return row;
}

describe("an endpoint of a worker that is gone", () => {
  it("is another's before the stopped one has finished its attempts in flight", async () => {
    const { api, owner, endpoint } = await inFlight();
    const { term } = await slotOf(endpoint);
    owner.signal("SIGTERM");
    await untilParts(256);
    // Given back, and taken by the other: nobody waited until the stopped one was taken for dead.
    assert.equal((await slotOf(endpoint)).term, term + 2);
    await publishMany(api, "payment.failed", 1);
    await eventually(async () => requests("/gated") === 2);
    gate.resolve();
    assert.deepEqual(await owner.ended, { code: 0, signal: null });
    await eventually(async () => (await logged()).length === 2);
  });

  it("is another's soon after it was killed", async () => {
    const { api, owner, endpoint } = await inFlight();
    const { term } = await slotOf(endpoint);
    await owner.end("SIGKILL");
    await publishMany(api, "payment.failed", 1);
    await eventually(async () => requests("/gated") >= 2);
    assert.equal((await slotOf(endpoint)).term, term + 1);
    gate.resolve();
    await untilParts(256);
    await eventually(async () => (await logged()).length === 2);
  });
});

describe("postern up --workers", () => {
  it("runs as many workers, starts one again that dies, and stops them all", async () => {
    const program = await startProgram(["up", "--workers", "3"], env);
    programs.push(program);
    await untilThree();
    const [killed] = await startedPids(program, 2);
    assert.ok(isRunning(killed));
    process.kill(Number(killed), "SIGKILL");
    const pids = await startedPids(program, 3);
    await eventually(async () => program.output().split('"roles":["worker"]').length === 4);
    assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
    assert.deepEqual(pids.filter(isRunning), []);
  });

  it("leaves no worker behind when it is killed", async () => {
    const program = await startProgram(["up", "--workers", "2"], env);
    programs.push(program);
    await untilParts(128, 128);
    const [pid] = await startedPids(program, 1);
    assert.ok(isRunning(pid));
    await program.end("SIGKILL");
    await eventually(async () => !isRunning(pid));
  });

  it("refuses a number of workers that is none", async () => {
    const { code, errors } = await runProgram(["up", "--workers", "many"], env);
    assert.equal(code, 1);
    assert.match(errors, /--workers many is not a number from 1 to 64/);
  });
});

/** Of the extra workers, in the order of their starts. */
function startedPids(program: Program, count: number): Promise<number[]> {
  return eventually(async () => {
    const lines = program.output().split("\n");
    const started = lines.filter((line) => line.includes('"msg":"an extra worker started"'));
    const pids = started.map((line) => Number(/"pid":(\d+)/.exec(line)?.[1]));
    return pids.length === count ? pids : null;
  });
}

function isRunning(pid: number | undefined): boolean {
  assert.ok(pid !== undefined && pid > 0);
  try {
    return process.kill(pid, 0);
  } catch (error) {
    assert.equal(codeOf(error), "ESRCH");
    return false;
  }
}
