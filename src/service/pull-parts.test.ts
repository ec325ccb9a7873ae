/** What is beside a lock at a pull endpoint, with the statements that a process is given. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, it } from "node:test";
import type { PoolClient } from "pg";
import { eventually } from "../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { makeSecrets, readConfig } from "../config.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import { sealSigningSecret } from "../endpoints/signing-secret.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { newDeliveryId, newEventId, type DeliveryId, type EndpointId } from "../shared/id.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeFoundation, type Foundation } from "./foundation.ts";
import { makeProcessParts, type ProcessParts } from "./process-parts.ts";

const ACME = tenant("acme");
const leaseId = randomUUID();

let database: TestDatabase;
let process: ProcessParts;
let foundation: Foundation;
before(async () => {
  database = await createTestDatabase();
  const { url: databaseUrl } = database;
  const options = {
    config: readConfig({ ...makeSecrets(), DATABASE_URL: databaseUrl }),
    catalog: await openCatalog(undefined),
    databaseUrl,
    migrations: [],
    roles: new Set(["api", "worker"] as const),
    log: makeLog("silent"),
  };
  process = await makeProcessParts(options);
  const { metrics } = process;
  const place = { databaseUrl, metrics, residence: null, eraseElsewhere: null };
  foundation = await makeFoundation(options, process, place);
});
after(async () => {
  await foundation.pull.waits.close();
  await foundation.pools.close();
  await process.close();
  await database.drop();
});

/** A pull endpoint, and a dispatch that a client has leased until so many seconds from now. */
async function leasedFor(seconds: number): Promise<{ endpointId: EndpointId; id: DeliveryId }> {
  const [endpoint, id] = [newEndpoint({ tenantId: ACME }), newDeliveryId()];
  const owner = { tenantId: ACME, endpointId: endpoint.id };
  const secret = sealSigningSecret(foundation.secretBox, `whsec_${"A".repeat(32)}`, owner);
  await insertEndpoint(database.pool, { ...endpoint, mode: "pull", secret });
  await database.pool.query(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at,
        held, lease_owner)
      VALUES ('acme', $1, $2, $3, 'invoice.paid', 1, now(), now() + make_interval(secs => $4), true, $5)`,
    [endpoint.id, id, newEventId(), seconds, leaseId],
  );
  return { endpointId: endpoint.id, id };
}

/** While another session has these rows. */
async function beside(lock: string, id: string, work: (holder: PoolClient) => Promise<void>): Promise<void> {
  const holder = await database.pool.connect();
  try {
    await holder.query("BEGIN");
    await holder.query(`SELECT FROM postern.${lock} WHERE id = $1 FOR UPDATE`, [id]);
    await work(holder);
  } finally {
    // A connection that is closed alone may have its locks for a moment longer.
    await holder.query("ROLLBACK");
    holder.release();
  }
}

const logged = async () =>
  (await database.pool.query("SELECT id, status FROM postern.deliveries ORDER BY id")).rows;

it("a lease that ended at a locked endpoint keeps none of another endpoint", async () => {
  const [locked, free] = [await leasedFor(-1), await leasedFor(-1)];
  const { endLeases } = foundation.pull.upkeep;
  await beside("endpoints", locked.endpointId, async () => {
    await endLeases();
    assert.deepEqual(await logged(), [{ id: free.id, status: "failed" }]);
  });
  await endLeases();
  assert.deepEqual(new Set((await logged()).map(({ id }) => id)), new Set([locked.id, free.id]));
});

it("an acknowledgement waits for whoever has its events at this moment", async () => {
  await database.pool.query("DELETE FROM postern.deliveries");
  const { endpointId, id } = await leasedFor(30);
  await beside("dispatches", id, async (holder) => {
    const acks = [{ id, refusal: null }];
    const acknowledging = foundation.pull.fetches.acknowledge(ACME, endpointId, { leaseId, acks });
    const pid = await pidOf(holder);
    const waiting = eventually(async () => (await waitersFor(database.pool, pid)) === 1);
    await Promise.race([waiting, acknowledging]);
    await holder.query("ROLLBACK");
    assert.deepEqual(await acknowledging, { delivered: 1, failed: 0, late: [] });
  });
  assert.deepEqual(await logged(), [{ id, status: "delivered" }]);
});
