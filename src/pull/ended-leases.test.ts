import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import type { EndedLease } from "../queue/fetching.ts";
import type { CompletedLease } from "../queue/queue.ts";
import {
  newDeliveryId,
  newEndpointId,
  parseTenantId,
  type DeliveryId,
  type EndpointId,
} from "../shared/id.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { endLeases } from "./ended-leases.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

const tenantId = parseTenantId("acme");
assert.ok(tenantId !== null);
const lease: EndedLease = {
  tenantId,
  endpointId: newEndpointId(),
  id: newDeliveryId(),
  leaseId: randomUUID(),
  eventType: "invoice.paid",
  attempt: 1,
  once: false,
  leasedAt: new Date(),
};

/** Ends the lease where the queue could record so many of those found. */
async function endWhere(recorded: readonly DeliveryId[], mayHaveMore: boolean) {
  const told: EndpointId[] = [];
  const completed: CompletedLease[] = [];
  const metrics = makeMetrics();
  const goesOn = await endLeases({
    db: database.pool,
    find: async () => ({ leases: [lease], mayHaveMore }),
    async complete(_db, attempts) {
      completed.push(...attempts);
      return new Set(recorded);
    },
    notify: async (_db, endpoints) => void told.push(...endpoints),
    artifacts: { choose: () => null },
    retryDelayMs: () => 5000,
    metrics,
  });
  const expired = (await metrics.pullExpired.get()).values[0]?.value;
  const outcomes = completed.map(({ status, error, nextDelayMs }) => [status, error, nextDelayMs]);
  return { goesOn, told, outcomes, expired };
}

describe("the end of clients' leases", () => {
  it("logs a timeout with its next attempt, tells who waits, and goes on while there may be more", async () => {
    const ended = { told: [lease.endpointId], outcomes: [["failed", "timeout", 5000]], expired: 1 };
    assert.deepEqual(await endWhere([lease.id], true), { goesOn: true, ...ended });
    assert.deepEqual(await endWhere([lease.id], false), { goesOn: false, ...ended });
  });

  it("leaves what is locked for the next time, instead of asking again at once", async () => {
    const { goesOn, expired } = await endWhere([], true);
    assert.deepEqual([goesOn, expired], [false, 0]);
  });
});
