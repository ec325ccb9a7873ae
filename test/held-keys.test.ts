/** A producer's open transaction holds idempotency keys that are also published over HTTP. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { PoolClient } from "pg";
import type { ApiAnswer } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { pidOf, waitersFor } from "./support/lock-waits.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { webhooksOf, type Webhooks } from "./support/webhooks.ts";

let service: TestService;
let holder: PoolClient;
let webhooks: Webhooks;

before(async () => {
  service = await startTestService();
  // The worker announces the catalog to SQL after its start.
  await eventually(async () => {
    const { rowCount } = await service.database.pool.query(
      "SELECT FROM postern.event_types WHERE type = 'invoice.paid'",
    );
    return rowCount === 1;
  });
  webhooks = webhooksOf(service);
  holder = await service.database.pool.connect();
});
after(async () => {
  holder.release(true);
  await service.stop();
});

function post(tid: string, json: unknown): Promise<ApiAnswer> {
  const as = { type: "service", tid, sub: "app", permissions: ["events:write"] };
  return service.call("POST", "/api/events", { as, json });
}

const event = (id: string, data: object = {}) => ({ type: "invoice.paid", data, id });

async function hold(keys: readonly string[]): Promise<void> {
  await holder.query("BEGIN");
  for (const key of keys) {
    await holder.query("SELECT postern.publish('acme', 'invoice.paid', '{}', $1)", [key]);
  }
}

/** Advisory locks, for which others may wait, of the sessions that wait for this one. */
async function locksOfWaiters(pid: number): Promise<unknown[]> {
  const { rows } = await service.database.pool.query(
    "SELECT classid, objid, mode FROM pg_locks WHERE locktype = 'advisory' AND $1 = ANY (pg_blocking_pids(pid))",
    [pid],
  );
  return rows;
}

describe("while an open transaction holds a key", () => {
  it("keyed publishes of others are answered, alone and in arrays, and those with the key when it commits", async () => {
    await hold(["held"]);
    const held = Array.from({ length: 5 }, () => post("acme", event("held")));
    const heldArray = post("acme", [event("beside"), event("held")]);
    let isHeldAnswered = false;
    void Promise.race([...held, heldArray]).then(() => (isHeldAnswered = true));
    const others = Array.from({ length: 50 }, (_, n) =>
      post(`tenant_${n}`, n % 5 === 0 ? [event("held"), event("more")] : event("held")),
    );
    const statuses = (await Promise.all(others)).map(({ status }) => status);
    assert.deepEqual([...new Set(statuses)], [202]);
    const sameTenant = await Promise.all(
      Array.from({ length: 20 }, (_, n) => post("acme", event(`free ${n}`))),
    );
    assert.deepEqual([...new Set(sameTenant.map(({ status }) => status))], [202]);
    assert.equal(isHeldAnswered, false);
    await holder.query("COMMIT");
    assert.deepEqual(
      (await Promise.all(held)).map(({ status }) => status),
      Array(5).fill(200),
    );
    assert.equal((await heldArray).status, 202);
  });

  it("publishes with it come through when the transaction is rolled back, and make one event", async () => {
    await hold(["undone"]);
    const held = Array.from({ length: 5 }, () => post("acme", event("undone")));
    await post("globex", event("undone"));
    await holder.query("ROLLBACK");
    const statuses = (await Promise.all(held)).map(({ status }) => status);
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [200, 200, 200, 200, 202],
    );
  });

  it("a key that is held for too long is answered 503, and many held keys keep nobody else", async () => {
    const keys = Array.from({ length: 300 }, (_, n) => `many ${n}`);
    await hold(keys);
    const held = keys.map((key, n) =>
      post("acme", n % 2 === 0 ? event(key) : [event(key), event(`${key} +`)]),
    );
    const others = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        post(`tenant_${n % 3}`, n % 2 === 0 ? event(`of ${n}`) : [event(`of ${n}`), event(`of ${n} +`)]),
      ),
    );
    assert.deepEqual([...new Set(others.map(({ status }) => status))], [202]);
    const answers = await Promise.all(held);
    await holder.query("ROLLBACK");
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [503]);
    assert.ok(answers.every(({ headers }) => Number(headers.get("retry-after")) > 0));
  });

  for (const [what, change, status] of [
    ["is sent though its endpoint became push meanwhile", { mode: "push" }, "delivered"],
    ["ends where its endpoint was deleted meanwhile", null, "ended"],
  ] as const) {
    it(`an event that waits for one ${what}, which waits for nothing`, async () => {
      const { pool } = service.database;
      const { endpoint } = await webhooks.create({ mode: "pull", events: ["invoice.paid"] });
      await hold([status]);
      const publishing = post("acme", [{ ...event("none"), id: undefined }, event(status)]);
      const pid = await pidOf(holder);
      await eventually(async () => (await waitersFor(pool, pid)) === 1);
      assert.deepEqual(await locksOfWaiters(pid), []);
      if (change === null) await webhooks.remove(endpoint.id);
      else await webhooks.update(endpoint.id, change);
      await holder.query("ROLLBACK");
      assert.equal((await publishing).status, 202);
      if (change !== null) await webhooks.waitFor(endpoint.id, "delivered", 2);
      await eventually(async () => {
        const { rowCount } = await pool.query("SELECT FROM postern.dispatches WHERE endpoint_id = $1", [
          endpoint.id,
        ]);
        return rowCount === 0;
      });
    });
  }
});
