/** Endpoints with more pending dispatches than one transaction takes along: all follow, in slices. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { followAll } from "../src/queue/postgres/follow.ts";
import { createEndpoint, listDeliveries, patchEndpoint } from "./support/api.ts";
import { OWNER } from "./support/calls.ts";
import { pidOf, waitersFor } from "./support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { startProgram } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const BACKLOG = 12_000;

let database: TestDatabase;
let receiver: TlsReceiver;
let api: TestService;
let worker: TestService | null = null;
let endpointId: string;

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  api = await startTestService({ database, receiver, roles: ["api"] });
});
after(async () => {
  await worker?.stop();
  await api.stop();
  await receiver.close();
  await database.drop();
});
beforeEach(async () => {
  await worker?.stop();
  worker = null;
  endpointId = await endpointWithBacklog();
});

async function endpointWithBacklog(tid = "acme"): Promise<string> {
  const { endpoint } = await createEndpoint(api, { url: receiver.url }, { as: { ...OWNER, tid } });
  await database.pool.query(
    `INSERT INTO postern.dispatches
        (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT $3, $1, postern.uuid_v7(), postern.uuid_v7(), 'invoice.paid', 2, now() + interval '1 hour',
        now() + interval '1 hour'
      FROM generate_series(1, $2)`,
    [endpoint.id, BACKLOG, tid],
  );
  return endpoint.id;
}

async function startWorker(): Promise<void> {
  worker = await startTestService({ database, receiver, roles: ["worker"], env: api.env });
}

async function count(what: "pending" | "held" | "ended"): Promise<number> {
  const query = {
    pending: "SELECT count(*)::int AS n FROM postern.dispatches WHERE endpoint_id = $1",
    held: "SELECT count(*)::int AS n FROM postern.dispatches WHERE endpoint_id = $1 AND held",
    ended:
      "SELECT count(*)::int AS n FROM postern.deliveries WHERE endpoint_id = $1 AND error = 'endpoint_deleted'",
  }[what];
  const { rows } = await database.pool.query<{ n: number }>(query, [endpointId]);
  return rows[0]?.n ?? 0;
}

async function isSettled(): Promise<boolean> {
  const { rows } = await database.pool.query<{ unsettled: boolean }>(
    "SELECT unsettled FROM postern.endpoints WHERE id = $1",
    [endpointId],
  );
  return rows[0]?.unsettled === false;
}

describe("a backlog of an endpoint that is", () => {
  it("disabled and enabled again: all is held, then all is due as before", async () => {
    await startWorker();
    await patchEndpoint(api, endpointId, { enabled: false });
    await eventually(isSettled);
    assert.equal(await count("held"), BACKLOG);
    await patchEndpoint(api, endpointId, { enabled: true });
    await eventually(isSettled);
    assert.deepEqual([await count("held"), await count("pending")], [0, BACKLOG]);
  });

  it("deleted: each ends once, and is told in the log", async () => {
    await startWorker();
    assert.equal((await api.call("DELETE", `/api/webhooks/${endpointId}`)).status, 200);
    await eventually(isSettled);
    assert.deepEqual([await count("pending"), await count("ended")], [0, BACKLOG]);
    assert.equal((await listDeliveries(api, endpointId))[0]?.error, "endpoint_deleted");
  });

  it("changed while nobody works: the first slice follows at once, the rest when a worker comes", async () => {
    await patchEndpoint(api, endpointId, { enabled: false });
    const first = await count("held");
    assert.ok(first > 0 && first < BACKLOG, `${first}`);
    await startWorker();
    await eventually(isSettled);
    assert.equal(await count("held"), BACKLOG);
  });

  it("changed by a process that is killed before any has followed: all follow when a worker comes", async (test) => {
    const dying = await startProgram(["api"], { ...api.env, LOG_LEVEL: "info" });
    // Until then the endpoint's change is committed, and its first slice waits.
    const holder = await database.pool.connect();
    test.after(() => holder.release(true));
    const pid = await pidOf(holder);
    await holder.query("BEGIN");
    await holder.query("SELECT FROM postern.dispatches WHERE endpoint_id = $1 FOR UPDATE", [endpointId]);
    const changed = dying.call("PATCH", `/api/webhooks/${endpointId}`, { json: { enabled: false } });
    changed.catch(() => undefined);
    await eventually(async () => (await waitersFor(database.pool, pid)) === 1);
    const { rows } = await database.pool.query("SELECT enabled FROM postern.endpoints WHERE id = $1", [
      endpointId,
    ]);
    assert.deepEqual(rows, [{ enabled: false }]);
    await dying.end("SIGKILL");
    await holder.query("ROLLBACK");
    await eventually(async () => (await waitersFor(database.pool, pid)) === 0);
    assert.deepEqual([await count("held"), await isSettled()], [0, false]);
    await startWorker();
    await eventually(isSettled);
    assert.equal(await count("held"), BACKLOG);
  });

  it("disabled follows in turn with another's, neither after the whole of the other", async () => {
    const first = endpointId;
    const second = await endpointWithBacklog();
    await patchEndpoint(api, first, { enabled: false });
    await patchEndpoint(api, second, { enabled: false });
    const slices: string[] = [];
    await followAll(database.pool, new AbortController().signal, (endpoint) => {
      slices.push(endpoint.endpointId);
    });
    assert.deepEqual(new Set(slices.slice(0, 2)), new Set([first, second]));
    assert.equal(await count("held"), BACKLOG);
  });

  it("of one tenant follows beside all that are another's", async () => {
    const acmes = [endpointId, await endpointWithBacklog(), await endpointWithBacklog()];
    const other = await endpointWithBacklog("globex");
    await database.pool.query(
      "UPDATE postern.endpoints SET enabled = false, disabled_reason = 'manual', unsettled = true WHERE id = ANY ($1)",
      [[...acmes, other]],
    );
    const slices: string[] = [];
    await followAll(database.pool, new AbortController().signal, (endpoint) => {
      slices.push(endpoint.endpointId);
    });
    // Three of its own, in turn with one of each of the other's.
    assert.deepEqual(new Set(slices.slice(0, 6)), new Set([...acmes, other]));
    assert.equal(slices.slice(0, 6).filter((id) => id === other).length, 3);
    assert.equal(slices.length, 12);
    assert.equal(await count("held"), BACKLOG);
  });

  it("changed again in the middle: the last state counts", async () => {
    await patchEndpoint(api, endpointId, { enabled: false });
    await patchEndpoint(api, endpointId, { enabled: true });
    await patchEndpoint(api, endpointId, { enabled: false });
    await startWorker();
    await patchEndpoint(api, endpointId, { enabled: true });
    await eventually(isSettled);
    assert.deepEqual([await count("held"), await count("pending")], [0, BACKLOG]);
    assert.equal((await api.call("DELETE", `/api/webhooks/${endpointId}`)).status, 200);
    await eventually(isSettled);
    assert.deepEqual([await count("pending"), await count("ended")], [0, BACKLOG]);
  });
});
