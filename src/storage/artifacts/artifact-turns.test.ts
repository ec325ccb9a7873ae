/** Whose bodies the keeper stores next, on a real database and a real folder. */
import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { pino } from "pino";
import { openArtifacts, type Artifacts } from "../../../test/support/artifacts.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { pause } from "../../shared/every.ts";
import { newDeliveryId, newEndpointId, type TenantId } from "../../shared/id.ts";
import { makeMetrics } from "../../telemetry/metrics.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { storageTenantId } from "../rows/storage-ids.ts";
import { makeArtifactKeeper } from "./artifact-keeper.ts";
import { insertBodies } from "./kept-body-store.ts";

const [ACME, GLOBEX, INITECH] = [tenant("acme"), tenant("globex"), tenant("initech")];

let artifacts: Artifacts;
before(async () => {
  artifacts = await openArtifacts();
});
after(() => artifacts.close());
beforeEach(async () => {
  await artifacts.pool.query("TRUNCATE postern.bodies_to_keep");
  await artifacts.reset();
});

async function note(tenantId: TenantId, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await insertBodies(
      artifacts.pool,
      { tenantId, endpointId: newEndpointId(), id: newDeliveryId(), attempt: 1 },
      { requestBody: false, responseBody: Buffer.from("long"), days: null },
    );
  }
}

async function waitingOf(tenantId: TenantId): Promise<number> {
  const { rows } = await artifacts.pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM postern.bodies_to_keep WHERE tenant_id = $1",
    [tenantId],
  );
  return rows[0]?.count ?? 0;
}

/** A keeper whose store takes what `takes` lets it; `puts` has the tenants in the order of what was tried. */
function keeperOf(takes: (tenantId: TenantId) => boolean) {
  const { bucket } = artifacts.services;
  const puts: TenantId[] = [];
  const pauses: number[] = [];
  const put: Bucket["put"] = (upload) => {
    const found = [ACME, GLOBEX, INITECH].find((tenantId) => upload.key.includes(storageTenantId(tenantId)));
    assert.ok(found !== undefined, upload.key);
    puts.push(found);
    return takes(found) ? bucket.put(upload) : Promise.reject(new Error("access denied"));
  };
  const keeper = makeArtifactKeeper({
    ...artifacts.services,
    bucket: { ...bucket, put },
    planDays: 30,
    log: pino({ level: "silent" }),
    metrics: makeMetrics(),
    wait: (ms, signal) => {
      pauses.push(ms);
      // Until the stop.
      return pause(60_000, signal);
    },
  });
  return { keeper, puts, pauses };
}

it("a tenant's bodies are stored beside those of another that has waited longer with more", async () => {
  await note(ACME, 60);
  await note(GLOBEX, 8);
  await note(INITECH, 1);
  const { keeper, puts } = keeperOf(() => true);
  keeper.start();
  await eventually(async () => (await waitingOf(ACME)) === 0);
  await keeper.stop();
  assert.equal(puts.length, 69);
  // Three share a turn, each with a third of sixteen: five.
  const first = puts.slice(0, 11);
  assert.deepEqual(
    [ACME, GLOBEX, INITECH].map((tenantId) => first.filter((each) => each === tenantId).length),
    [5, 5, 1],
  );
  // And its last three are in the second, in which two have eight each.
  assert.ok(puts.lastIndexOf(GLOBEX) < 11 + 11, String(puts.lastIndexOf(GLOBEX)));
});

it("a tenant whose bodies the store refuses keeps nobody else waiting", async () => {
  await note(ACME, 40);
  await note(GLOBEX, 40);
  const { keeper, pauses } = keeperOf((tenantId) => tenantId !== ACME);
  keeper.start();
  await eventually(async () => (await waitingOf(GLOBEX)) === 0);
  // Its last ones were tried without the other's, and were none the store took.
  await eventually(async () => pauses.length > 1);
  await keeper.stop();
  assert.equal(await waitingOf(ACME), 40);
});
