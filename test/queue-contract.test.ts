/** The queue's port, held by PostgreSQL and by the queue in memory on which workers are simulated. */
import { after, before } from "node:test";
import { makePostgresQueue } from "../src/queue/postgres/postgres-queue.ts";
import { systemClock } from "../src/shared/clock.ts";
import { MemoryQueue } from "./support/memory-queue.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { describeQueueContract } from "./support/queue-contract.ts";

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

describeQueueContract("in PostgreSQL", async () => {
  await database.pool.query(
    "TRUNCATE postern.dispatches, postern.events, postern.endpoints, postern.deliveries",
  );
  return {
    queue: makePostgresQueue({ publisher: database.pool, worker: database.pool }, 0),
    async addEndpoint({ tenantId, endpointId }) {
      await database.pool.query(
        `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
          VALUES ($1, $2, 'https://example.com/', ARRAY[$3], '', now(), now())`,
        [tenantId, endpointId, endpointId],
      );
    },
    async endLeases() {
      await database.pool.query(
        "UPDATE postern.dispatches SET claimable_at = now() WHERE lease_owner IS NOT NULL",
      );
    },
  };
});

describeQueueContract("in memory", async () => {
  const queue = new MemoryQueue(systemClock);
  return {
    queue,
    addEndpoint: async (endpoint) => queue.addEndpoint({ ...endpoint, enabled: true }),
    endLeases: async () => queue.endLeases(),
  };
});
