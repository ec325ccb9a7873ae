/** The queue's port, held by PostgreSQL and by the queue in memory on which workers are simulated. */
import { after, before } from "node:test";
import { DatabaseError } from "pg";
import { addToOutbox, mirrorEventTypes } from "../src/events/outbox-store.ts";
import { systemClock } from "../src/shared/clock.ts";
import { pidOf, waitersFor } from "./support/lock-waits.ts";
import { MemoryQueue } from "./support/memory-queue.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { describeQueueContract } from "./support/queue-contract.ts";
import type { HeldLock, QueueLocks, QueueUnderTest } from "./support/queue-under-test.ts";
import { openTestQueue } from "./support/test-queue.ts";

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
  await mirrorEventTypes(database.pool, [{ type: "invoice.paid", newest: 1, needed: [], others: [] }]);
});
after(() => database.drop());

/** A transaction of its own that holds what the statement locks. */
async function holdLock(sql: string, values: readonly unknown[]): Promise<HeldLock> {
  const client = await database.pool.connect();
  const pid = await pidOf(client);
  await client.query("BEGIN");
  await client.query(sql, [...values]);
  let isOver = false;
  return {
    isWaitedFor: async () => (await waitersFor(database.pool, pid)) > 0,
    async release() {
      if (isOver) return;
      isOver = true;
      await client.query("ROLLBACK");
      client.release();
    },
  };
}

const LOCKS: QueueLocks = {
  lockEndpoint: ({ tenantId, endpointId }) =>
    holdLock("SELECT FROM postern.endpoints WHERE tenant_id = $1 AND id = $2 FOR UPDATE", [
      tenantId,
      endpointId,
    ]),
  lockDispatch: ({ tenantId, id }) =>
    holdLock("SELECT FROM postern.dispatches WHERE tenant_id = $1 AND id = $2 FOR UPDATE", [tenantId, id]),
  claimKey: ({ tenantId, idempotencyKey }) =>
    holdLock("SELECT postern.publish($1, 'invoice.paid', '{}', $2)", [tenantId, idempotencyKey]),
  isLockWaitOver: (error) => error instanceof DatabaseError && error.code === "55P03",
};

async function openInPostgres(): Promise<QueueUnderTest> {
  await database.pool.query(
    "TRUNCATE postern.dispatches, postern.events, postern.endpoints, postern.deliveries, postern.outbox, postern.idempotency_keys, postern.handovers",
  );
  return {
    queue: openTestQueue(database.pool),
    async addEndpoint({ tenantId, endpointId }) {
      await database.pool.query(
        `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
          VALUES ($1, $2, 'https://example.com/', ARRAY[$3], '', now(), now())`,
        [tenantId, endpointId, endpointId],
      );
    },
    async changeEndpoint({ tenantId, endpointId }, to) {
      await database.pool.query(
        `UPDATE postern.endpoints
          SET enabled = $3 <> 'disabled', deleted_at = CASE WHEN $3 = 'deleted' THEN now() END, unsettled = true,
            disabled_reason = CASE WHEN $3 = 'disabled' THEN 'manual' END
          WHERE tenant_id = $1 AND id = $2`,
        [tenantId, endpointId, to],
      );
    },
    addToOutbox: (event) => addToOutbox(database.pool, [event]),
    async endLeases() {
      await database.pool.query(
        "UPDATE postern.dispatches SET claimable_at = now() WHERE lease_owner IS NOT NULL",
      );
    },
  };
}

async function openInMemory(): Promise<QueueUnderTest> {
  const queue = new MemoryQueue(systemClock);
  return {
    queue,
    addEndpoint: async (endpoint) => queue.addEndpoint({ ...endpoint, enabled: true }),
    async changeEndpoint({ endpointId }, to) {
      const endpoint = queue.endpoints.get(endpointId);
      if (endpoint !== undefined)
        Object.assign(endpoint, { enabled: to !== "disabled", deleted: to === "deleted" });
    },
    addToOutbox: async (event) => void queue.outbox.push({ ...event, version: 1, others: null }),
    endLeases: async () => queue.endLeases(),
  };
}

describeQueueContract("in PostgreSQL", openInPostgres, LOCKS);
describeQueueContract("in memory", openInMemory, null);
