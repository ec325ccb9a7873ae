/** What of a tenant's artifacts its erasure refuses to take, and what it takes from a bucket in doubt. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { erasureObject, tenantRowsObject } from "../src/api/tenant-schemas.ts";
import { eraseObjectsOf } from "../src/storage/upkeep/erase-objects.ts";
import { makeLog } from "../src/telemetry/log.ts";
import { makeMetrics } from "../src/telemetry/metrics.ts";
import { makeErasureWorker } from "../src/tenants/erasure-worker.ts";
import { openArtifacts, type Artifact, type Artifacts } from "./support/artifacts.ts";
import { pidOf, waitersFor } from "./support/lock-waits.ts";
import { OPERATOR } from "./support/portal.ts";
import { createTestDatabase } from "./support/postgres.ts";
import { runProgram } from "./support/program.ts";
import type { Claims } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { tenant } from "./support/two-tenants.ts";
import { assertRefused, REFUSED } from "./support/webhooks.ts";

const ACME: Claims = { type: "user", tid: "acme", sub: "ada", role: "owner" };

let artifacts: Artifacts;
before(async () => {
  artifacts = await openArtifacts();
});
after(() => artifacts.close());

const erase = (query = "") => artifacts.call("DELETE", `/api/tenants/acme${query}`, { as: OPERATOR });
const hold = ({ id }: Artifact, method: "PUT" | "DELETE" = "PUT") =>
  artifacts.call(method, `/api/storage/objects/${id}/hold`, { as: ACME });

async function erasure() {
  const { body } = await artifacts.call("GET", "/api/tenants/acme/erasure", { as: OPERATOR });
  return z.strictObject({ erasure: erasureObject }).parse(body).erasure;
}

/** While a worker erases, waits until the job is as `isSo` wants it. */
async function erasureThat(isSo: (job: z.infer<typeof erasureObject>) => boolean) {
  const { services } = artifacts;
  const worker = makeErasureWorker({
    db: services.db,
    eraseElsewhere: null,
    eraseObjects: (tenantId, most, buckets) => eraseObjectsOf(services, tenantId, { most, buckets }),
    log: makeLog("silent"),
    metrics: makeMetrics(),
  });
  worker.start();
  try {
    return await eventually(async () => {
      const job = await erasure();
      return isSo(job) && job;
    });
  } finally {
    await worker.stop();
  }
}

const finish = () => erasureThat(({ status }) => status === "finished");

/** The answer names the artifact, and nothing was begun. */
async function assertHeld(answer: Awaited<ReturnType<typeof erase>>, { id }: Artifact): Promise<void> {
  assert.equal(answer.status, 409, answer.text);
  assert.ok(answer.text.includes(id) && answer.text.includes('"held"'), answer.text);
  const { rows } = await artifacts.pool.query("SELECT FROM postern.tenant_erasures WHERE status = 'running'");
  assert.equal(rows.length, 0);
}

describe("the erasure of a tenant with a held artifact", () => {
  it("is refused and names it, by the API and by the command, until the hold ends", async () => {
    const kept = await artifacts.store("available");
    await artifacts.store("available");
    assert.equal((await hold(kept)).status, 200);
    await assertHeld(await erase(), kept);
    const counted = await erase("?dry_run=true");
    assert.equal(tenantRowsObject.parse(counted.body).held, 1);
    const { code, output } = await runProgram(
      ["tenants", "erase", "--tenant", "acme", "--yes"],
      artifacts.env,
    );
    assert.equal(code, 1, output);
    assert.ok(output.includes(kept.id) && output.includes("end the holds first"), output);

    assert.equal((await hold(kept, "DELETE")).status, 200);
    assert.equal((await erase()).status, 202);
    // What goes with its tenant can be held no more.
    assertRefused(await hold(kept), REFUSED.notFound);
    await finish();
    assert.ok(!existsSync(kept.place));
  });

  it("is refused when the hold is set at the same moment", async () => {
    const kept = await artifacts.store("available");
    const setting = await artifacts.pool.connect();
    await setting.query("BEGIN; SELECT FROM postern.lock_holds('acme')");
    await setting.query("UPDATE postern.stored_objects SET hold = true WHERE id = $1", [kept.id]);
    const asked = erase();
    const pid = await pidOf(setting);
    await eventually(async () => (await waitersFor(artifacts.pool, pid)) === 1);
    await setting.query("COMMIT");
    setting.release();
    await assertHeld(await asked, kept);
    await hold(kept, "DELETE");
  });
});

describe("the erasure of a tenant whose bucket another installation took over", () => {
  it("takes what rows name with its own bytes, says what it left, and ends when the bucket is ours again", async () => {
    await artifacts.reset();
    const [own, expired, changed, suspect] = [
      await artifacts.store("available"),
      await artifacts.store("expired"),
      await artifacts.store("available"),
      await artifacts.store("quarantined"),
    ];
    const orphan = artifacts.placeOf(await artifacts.storeOrphan());
    await writeFile(changed.place, "another's bytes");
    const database = await createTestDatabase();
    const intruder = { ...artifacts.env, DATABASE_URL: database.url };
    assert.equal((await runProgram(["storage", "own", "--take-over"], intruder)).code, 0);

    assert.equal((await erase()).status, 202);
    const job = await erasureThat(({ waiting_for: why }) => why?.includes("Left are") === true);
    const waiting = job.waiting_for ?? "";
    assert.match(waiting, /another installation/);
    assert.ok(waiting.includes(`Left are 1 artifacts ${suspect.key}, and what no row names`), waiting);
    const all = [own, expired, changed, suspect];
    assert.deepEqual(
      all.map(({ place }) => existsSync(place)),
      [false, false, true, true],
    );
    assert.deepEqual(await Promise.all(all.map(artifacts.stateOf)), [
      "purged",
      "purged",
      "purged",
      "quarantined",
    ]);

    assert.equal((await runProgram(["storage", "own", "--take-over"], artifacts.env)).code, 0);
    await artifacts.pool.query("UPDATE postern.tenant_erasures SET lease_until = now()");
    await finish();
    assert.ok(!existsSync(changed.place) && !existsSync(suspect.place));
    assert.ok(existsSync(orphan), "another tenant's");
    await database.drop();
  });

  it("leaves what lies in another bucket, and takes what is in this one", async () => {
    await artifacts.reset();
    const [own, elsewhere] = [await artifacts.store("available"), await artifacts.store("available")];
    await artifacts.pool.query("UPDATE postern.stored_objects SET bucket = 'elsewhere' WHERE id = $1", [
      elsewhere.id,
    ]);
    const { bucket } = artifacts.services;
    const buckets = [bucket.name, "elsewhere"];
    const { erased, trouble } = await eraseObjectsOf(artifacts.services, tenant("acme"), {
      most: 10,
      buckets,
    });
    assert.equal(erased, 1);
    assert.match(
      trouble ?? "",
      new RegExp(`in the bucket elsewhere.* Left are 1 artifacts ${elsewhere.key}`),
    );
    assert.deepEqual(await Promise.all([own, elsewhere].map(artifacts.stateOf)), ["purged", "available"]);
  });
});
