/** A client works while the processes that serve it are killed: nothing is lost, and nothing acknowledged comes again. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import * as z from "zod";
import { leaseObject } from "../src/api/pull-schemas.ts";
import type { Environment } from "../src/config.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { PRODUCER } from "./support/calls.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const EVENTS = 600;
const KILLS = 4;

let database: TestDatabase;
let receiver: TlsReceiver;
let env: Environment;
let program: Program;

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  const shared = await sharedSettings(database.url, receiver.caPem);
  env = { ...shared, RETRY_SCHEDULE: "0s,1s,1s,1s,1s,1s,1s,1s", RATE_LIMIT_FETCHES: "0" };
  program = await startProgram(["up"], env);
});
after(async () => {
  await program.end("SIGKILL");
  await receiver.close();
  await database.drop();
});

const made = z.object({ endpoint: z.object({ id: z.string() }) });

it("gives each event to the client until it is acknowledged, and never again", async () => {
  const json = { url: receiver.url, mode: "pull" };
  const { endpoint } = made.parse((await program.call("POST", "/api/webhooks", { json })).body);
  const path = `/api/webhooks/${endpoint.id}`;
  const events = Array.from({ length: EVENTS }, () => ({ type: "invoice.paid", data: {} }));
  const published = await program.call("POST", "/api/events", { as: PRODUCER, json: events });
  assert.equal(published.status, 202, published.text);

  const acknowledged = new Set<string>();
  const open = new Set<string>();
  let kills = 0;
  for (let calls = 0; acknowledged.size < EVENTS; calls++) {
    const { body, status, text } = await program.call("POST", `${path}/leases`, {
      json: { limit: 40, wait_s: 2 },
    });
    assert.equal(status, 200, text);
    const lease = leaseObject.parse(body);
    for (const { event_id } of lease.events)
      assert.ok(!acknowledged.has(event_id ?? ""), "an acknowledged event came again");
    // Not all of a large one, so that there are open leases at the kill.
    const most = lease.events.slice(0, Math.max(10, lease.events.length - 10));
    const rest = lease.events.slice(most.length);
    for (const { id } of rest) open.add(id);
    if (most.length > 0) {
      const acks = { lease_id: lease.lease_id, acks: most.map(({ id }) => ({ id })) };
      const answer = await program.call("POST", `${path}/acks`, { json: acks });
      assert.deepEqual(answer.body, { delivered: most.length, failed: 0, late: [] });
      for (const { event_id } of most) acknowledged.add(event_id ?? "");
    }
    if (kills < KILLS && calls % 3 === 2) {
      kills++;
      await program.end("SIGKILL");
      program = await startProgram(["up"], env);
    }
    // As if a minute had passed for what the client has dropped.
    if (lease.events.length === 0)
      await database.pool.query(
        "UPDATE postern.dispatches SET claimable_at = now() WHERE lease_owner IS NOT NULL",
      );
  }
  assert.equal(kills, KILLS);
  assert.ok(open.size > 0);
  const { rows } = await database.pool.query(
    `SELECT count(*) FILTER (WHERE status = 'delivered')::int AS delivered,
        count(DISTINCT event_id) FILTER (WHERE status = 'delivered')::int AS events,
        count(*) FILTER (WHERE status = 'failed' AND error = 'timeout')::int AS timeouts,
        (SELECT count(*)::int FROM postern.dispatches) AS pending
      FROM postern.deliveries`,
  );
  assert.deepEqual(rows, [{ delivered: EVENTS, events: EVENTS, timeouts: open.size, pending: 0 }]);
});
