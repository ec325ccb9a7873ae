/** What a bucket's configuration does to a start; how it is judged is in src/storage/bytes/bucket-check.test.ts. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, it } from "node:test";
import { GOOD_BUCKET } from "../../test/support/good-bucket.ts";
import { holdWaits, releaseWaits } from "../../test/support/held-waits.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { makeSecrets, readConfig, type Environment } from "../config.ts";
import { ConfigError } from "../shared/config-error.ts";
import { StoreUnavailableError } from "../storage/bytes/bucket.ts";
import { buildObjectKey } from "../storage/rules/object-key.ts";
import type { BucketConfig } from "../storage/rules/validate-bucket.ts";
import type { StorageUpkeepTimes } from "../storage/upkeep/storage-upkeep.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { makeStorageParts, reconcilingServices, requireSafeBucket, storageWork } from "./storage-parts.ts";

afterEach(releaseWaits);

/** What of the log a start leaves with such a configuration. */
async function rulesTold(found: BucketConfig | Error, waivers: string[] = [], artifactDays = 30) {
  const readConfig = () => (found instanceof Error ? Promise.reject(found) : Promise.resolve(found));
  const { log, lines } = makeKeptLog();
  const config = Object({ artifactDays, objectStore: { kind: "s3", waivers } });
  await requireSafeBucket(Object({ name: "artifacts", readConfig }), config, log);
  return lines.map(({ rule, err }) => rule ?? err);
}

it("a start goes on with a bucket that is as it should be, and with one of which it warns", async () => {
  assert.deepEqual(await rulesTold(GOOD_BUCKET), []);
  assert.deepEqual(await rulesTold({ ...GOOD_BUCKET, tls_only: null }), ["BR-06"]);
});

it("a start ends with a bucket that is not safe, with what is wrong and what to do", async () => {
  const unsafe = { versioning: "Suspended", tls_only: null, current_expiration_days: 7 };
  await assert.rejects(rulesTold({ ...GOOD_BUCKET, ...unsafe }), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(
      error.message,
      /^The bucket artifacts is not safe to use\.\nBR-04 is "Suspended": [^\n]+\nBR-09 is 7: [^\n]+$/,
    );
    return true;
  });
});

it("a start goes on while the object store is away, but not behind another fault", async () => {
  assert.deepEqual(await rulesTold(new StoreUnavailableError("no answer")), ["no answer"]);
  await assert.rejects(rulesTold(new Error("a mistake")), /a mistake/);
});

it("a rule that the operator waived is no fault of a bucket that cannot tell", async () => {
  const silent: BucketConfig = { ...GOOD_BUCKET, tls_only: "unsupported" };
  assert.deepEqual(await rulesTold(silent), ["BR-06"]);
  assert.deepEqual(await rulesTold(silent, ["BR-06"]), []);
});

it("a start ends with a bucket whose rule deletes objects before ARTIFACT_DAYS are over", async () => {
  const found: BucketConfig = { ...GOOD_BUCKET, current_expiration_days: 61 };
  assert.deepEqual(await rulesTold(found, [], 60), []);
  await assert.rejects(rulesTold(found, [], 61), /BR-09 is 61/);
});

/** The folders whose files are served; null: none are. */
async function served(env: Environment) {
  const config = readConfig({ ...makeSecrets(), ...env });
  const services = { config, tenants: Object({}), worker: Object({}), log: makeLog("silent") };
  const { servedFiles, bucket } = await makeStorageParts({ ...services, metrics: makeMetrics() });
  bucket.close();
  return servedFiles === null ? null : [...servedFiles.buckets.keys()];
}

it("the API serves the files of a folder, and not those of an object store", async () => {
  assert.deepEqual(await served({}), ["artifacts"]);
  assert.equal(await served({ OBJECT_STORE_URL: "s3://artifacts?region=us-east-1" }), null);
});

it("what the bucket is asked is measured", async () => {
  const config = readConfig({ ...makeSecrets(), DATA_DIR: temporaryPath("data") });
  const metrics = makeMetrics();
  const services = { config, tenants: Object({}), worker: Object({}), log: makeLog("silent") };
  const { bucket } = await makeStorageParts({ ...services, metrics });
  const ids = { tenant_id: randomUUID(), delivery_id: randomUUID() };
  const key = buildObjectKey({ ...ids, attempt: 1, kind: "request_body" });
  // Its folder is made with the first object.
  await assert.rejects(bucket.head({ bucket: bucket.name, key, version_id: null }), StoreUnavailableError);
  assert.ok((await metrics.storageDuration.get()).values.length > 0);
});

it("rows are compared with the bucket as the worker, for as long as artifacts are kept", () => {
  const config = readConfig({ ...makeSecrets(), ARTIFACT_DAYS: "41" });
  const [bucket, probes, worker, tenants] = ["bucket", "probes", "worker", "tenants"].map((name) =>
    Object({ name }),
  );
  const at = { databaseUrl: "postgres://here/postern", connectionTimeoutMs: 7 };
  assert.deepEqual(
    reconcilingServices(Object({ bucket, probes }), { config, pools: Object({ worker, tenants }), ...at }),
    {
      db: worker,
      tenants,
      bucket,
      probes,
      planDays: 41,
      lock: {
        url: at.databaseUrl,
        applicationName: "postern reconcile",
        connectionTimeoutMs: 7,
        role: "postern_worker",
      },
    },
  );
});

/** How long the upkeep of artifacts waits after its first round, in which all of it fails. */
async function waitsWith(times: Partial<StorageUpkeepTimes> | undefined): Promise<number[]> {
  const waits = holdWaits();
  const db = { query: () => Promise.reject(new Error("no")) };
  const services = { config: readConfig(makeSecrets()), tenants: Object({}), eraseElsewhere: null };
  const reconciling = Object({ db, bucket: { name: "artifacts" } });
  const told = { log: makeLog("silent"), metrics: makeMetrics() };
  const [, upkeep] = storageWork(reconciling, { ...services, times, ...told });
  assert.ok(upkeep !== undefined);
  upkeep.start();
  await new Promise(setImmediate);
  await upkeep.stop();
  releaseWaits();
  return waits.map(({ ms }) => ms).toSorted((one, other) => one - other);
}

it("the upkeep of artifacts has its times, but for those that are given", async () => {
  const minute = 60_000;
  assert.deepEqual(await waitsWith(undefined), [minute, minute, minute]);
  const given = { expireEveryMs: 5, firstPassAfterMs: 7, reconcileEveryMs: 9 };
  assert.deepEqual(await waitsWith(given), [5, 7, 9]);
  assert.deepEqual(await waitsWith({ expireEveryMs: 5 }), [5, minute, minute]);
});
