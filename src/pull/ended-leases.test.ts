import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import type { EndedLease } from "../queue/fetching.ts";
import type { CompletedLease } from "../queue/queue.ts";
import { newDeliveryId, newEndpointId, type DeliveryId, type EndpointId } from "../shared/id.ts";
import type { KeptBodies } from "../storage/artifacts/kept-bodies.ts";
import { writeTenantSettings } from "../storage/rows/tenant-settings-store.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { makeLeaseEnding } from "./ended-leases.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

const tenantId = tenant("acme");
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
async function endWhere(recorded: readonly DeliveryId[], mayHaveMore: boolean, leases = [lease]) {
  const told: EndpointId[] = [];
  const completed: CompletedLease[] = [];
  const kept: (KeptBodies | null)[] = [];
  const attempts: unknown[] = [];
  const metrics = makeMetrics();
  const end = makeLeaseEnding({
    db: database.pool,
    // Of no other tenant.
    find: async (_db, without) =>
      without.length === 0 ? { leases, mayHaveMore } : { leases: [], mayHaveMore: false },
    async complete(_db, given) {
      completed.push(...given);
      return new Set(recorded);
    },
    notify: async (_db, endpoints) => void told.push(...endpoints),
    artifacts: {
      choose(keeps, attempt) {
        kept.push(keeps);
        attempts.push(attempt);
        return null;
      },
    },
    retryDelayMs: () => 5000,
    metrics,
  });
  const goesOn = (await end()) && (await end());
  const expired = (await metrics.pullExpired.get()).values[0]?.value;
  const outcomes = completed.map(({ status, error, nextDelayMs }) => [status, error, nextDelayMs]);
  const counted = (await metrics.attemptsTotal.get()).values.map(({ labels, value }) => ({ labels, value }));
  assert.deepEqual(
    attempts,
    leases.map(() => ({ tenantId, attempt: 1, longResponseBody: null })),
  );
  assert.deepEqual(
    counted,
    leases
      .slice(0, 1)
      .map(() => ({ labels: { outcome: "failed", reason: "timeout" }, value: recorded.length })),
  );
  return { goesOn, told, outcomes, expired, kept };
}

describe("the end of clients' leases", () => {
  it("logs a timeout with its next attempt, tells who waits, and goes on while there may be more", async () => {
    const ended = {
      told: [lease.endpointId],
      outcomes: [["failed", "timeout", 5000]],
      expired: 1,
      kept: [null],
    };
    assert.deepEqual(await endWhere([lease.id], true), { goesOn: true, ...ended });
    assert.deepEqual(await endWhere([lease.id], false), { goesOn: false, ...ended });
  });

  it("is told once of each endpoint, and asks for nothing where no lease has ended", async () => {
    const other = { ...lease, id: newDeliveryId() };
    const { told, outcomes } = await endWhere([lease.id, other.id], false, [lease, other]);
    assert.deepEqual([told, outcomes.length], [[lease.endpointId], 2]);
    const nothing = { goesOn: false, told: [], outcomes: [], expired: 0, kept: [] };
    assert.deepEqual(await endWhere([], true, []), nothing);
  });

  it("leaves what is locked for the next time, instead of asking again at once", async () => {
    const { goesOn, expired } = await endWhere([], true);
    assert.deepEqual([goesOn, expired], [false, 0]);
  });

  it("keep of the attempt what its tenant keeps of every attempt", async () => {
    const endpoint = { ...newEndpoint({ tenantId }), id: lease.endpointId };
    await insertEndpoint(database.pool, endpoint);
    await writeTenantSettings(database.pool, tenantId, {
      keepRequestBodies: true,
      keepResponseBodies: false,
      artifactDays: 7,
    });
    const { kept } = await endWhere([lease.id], false);
    assert.deepEqual(kept, [{ requestBodies: true, responseBodies: false, days: 7 }]);
  });

  it("does not wait for all of another tenant's, though those ended before", async () => {
    const globex = tenant("globex");
    const acmes = Array.from({ length: 9 }, () => ({ ...lease, id: newDeliveryId() }));
    let waiting: EndedLease[] = [...acmes, { ...lease, tenantId: globex, id: newDeliveryId() }];
    const ended: string[] = [];
    const end = makeLeaseEnding({
      db: database.pool,
      // Two at once.
      async find(_db, without) {
        const leases = waiting.filter(({ tenantId: of }) => !without.includes(of)).slice(0, 2);
        return { leases, mayHaveMore: leases.length === 2 };
      },
      async complete(_db, given) {
        const ids = new Set(given.map(({ dispatch }) => dispatch.id));
        ended.push(...given.map(({ dispatch }) => dispatch.tenantId));
        waiting = waiting.filter(({ id }) => !ids.has(id));
        return ids;
      },
      notify: async () => undefined,
      artifacts: { choose: () => null },
      retryDelayMs: () => null,
      metrics: makeMetrics(),
    });
    while (await end());
    assert.deepEqual([ended.slice(0, 3), ended.length, waiting], [["acme", "acme", "globex"], 10, []]);
  });
});
