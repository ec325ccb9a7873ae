import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { EVENT_TYPE, tenant } from "../../test/support/two-tenants.ts";
import type { Taken } from "../events/taken-events.ts";
import type { HandedOver } from "../queue/queue.ts";
import { newEventId, type EventId, type TenantId } from "../shared/id.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { Directory } from "./directory.ts";
import { makeHandOver } from "./hand-over.ts";

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

const pulse = { isAway: () => false, guard: <T>(work: () => Promise<T>) => work() };

const choose = () => "eu2";

function waiting(tenantId: TenantId): HandedOver {
  const event = { type: EVENT_TYPE, version: 1, body: "{}", others: null, idempotencyKey: null };
  return { id: newEventId(), tenantId, ...event, traceparent: null, claimed: false };
}

it("deletes what is stored, and tries the rest again later: asks anew for the home of a tenant that its shard refused", async () => {
  const db = database.pool;
  const reached = ["eu1", "eu2"].map((name) => [name, { db, pulse }] as const);
  const directory = new Directory({ first: "eu1", shards: new Map(reached), choose, log: makeLog("silent") });
  const [stored, known, refused, failed] = ["stored", "known", "refused", "failed"].map(tenant);
  assert.ok(stored !== undefined && known !== undefined && refused !== undefined && failed !== undefined);
  const events = [stored, known, refused, failed].map(waiting);
  const idOf = (tenantId: TenantId) => events.find((event) => event.tenantId === tenantId)?.id;
  const metrics = makeMetrics();
  const removed: EventId[] = [];
  const redirected: unknown[] = [];
  const hasBegun = Promise.withResolvers<void>();
  const handOver = makeHandOver({
    from: { name: "eu1", db },
    rows: {
      destinations: async () => ["eu2"],
      claim: async () => events,
      remove: async (_, ids) => void removed.push(...ids),
      async redirect(_, rows, delayMs) {
        for (const { id, shard } of rows) redirected.push({ id, shard, delayMs });
      },
    },
    directory,
    shards: new Map([
      [
        "eu2",
        {
          taken: {
            async accept({ tenantId }): Promise<Taken> {
              hasBegun.resolve();
              if (tenantId === refused) throw Object.assign(new Error("is not here"), { code: "PS001" });
              if (tenantId === failed) throw new Error("no connection");
              return tenantId === known ? "known" : "accepted";
            },
          },
          metrics,
          pulse,
        },
      ],
    ]),
    log: makeLog("silent"),
  });
  handOver.start();
  await hasBegun.promise;
  // Waits for what is under way.
  await handOver.stop();
  assert.deepEqual(removed, [idOf(stored), idOf(known)]);
  assert.deepEqual(redirected, [
    { id: idOf(refused), shard: null, delayMs: 2000 },
    { id: idOf(failed), shard: "eu2", delayMs: 2000 },
  ]);
  assert.deepEqual(
    [stored, known, refused, failed].map((tenantId) => directory.peek(tenantId)?.shard),
    ["eu2", "eu2", undefined, "eu2"],
  );
  assert.equal((await metrics.eventsAccepted.get()).values[0]?.value, 1);
});
