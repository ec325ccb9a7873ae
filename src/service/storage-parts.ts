/** The parts of a process that keep artifacts: the bucket, its links, and what compares and fills it. */
import type { Config } from "../config.ts";
import type { Pool } from "../database/pool.ts";
import type { RolePools } from "../database/role-pools.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import { ConfigError } from "../shared/config-error.ts";
import { publicBase } from "../shared/public-base.ts";
import { makeArtifactKeeper } from "../storage/artifacts/artifact-keeper.ts";
import { checkBucket } from "../storage/bytes/bucket-check.ts";
import { StoreUnavailableError, type Bucket } from "../storage/bytes/bucket.ts";
import { makeLinkSigner, type FileRequest } from "../storage/bytes/file-links.ts";
import { measuredBucket } from "../storage/bytes/measured-bucket.ts";
import { readLinkState } from "../storage/rows/stored-object-store.ts";
import { openBucket, servedEndpoint } from "../storage/bytes/open-bucket.ts";
import { STAGE_LIMITS } from "../storage/exports/export-stage.ts";
import { makeExportWorker } from "../storage/exports/export-worker.ts";
import { makeLinkProbes } from "../storage/library/link-probes.ts";
import type { SignedUrlEndpoint } from "../storage/rules/signed-url.ts";
import {
  isOwnBucket,
  makeStorageUpkeep,
  STORAGE_UPKEEP_TIMES,
  type StorageUpkeepTimes,
} from "../storage/upkeep/storage-upkeep.ts";
import { eraseObjectsOf } from "../storage/upkeep/erase-objects.ts";
import { makeErasureWorker, type EraseElsewhere } from "../tenants/erasure-worker.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";

export type StorageParts = Awaited<ReturnType<typeof makeStorageParts>>;

export async function makeStorageParts({
  config,
  tenants,
  worker,
  log,
  metrics,
}: {
  config: Config;
  tenants: TenantPool;
  /** Sees the rows of every tenant. */
  worker: Pool;
  log: Log;
  metrics: Metrics;
}) {
  const { bucket, signer, listensOn, base, reach } = await openStorage(config, metrics);
  const servedFiles =
    config.objectStore.kind === "directory"
      ? {
          signer,
          buckets: new Map([
            [bucket.name, { bucket, stateOfLink: (file: FileRequest) => readLinkState(worker, file) }],
          ]),
        }
      : null;
  const probes = makeLinkProbes({ bucket, tenants, reach });
  const artifacts = makeArtifactKeeper({
    db: worker,
    tenants,
    bucket,
    probes,
    planDays: config.artifactDays,
    log,
    metrics,
  });
  return { bucket, servedFiles, listensOn, publicBase: base, probes, artifacts };
}

/** What comparing rows with the bucket needs, in a worker or for a command. */
export function reconcilingServices(
  { bucket, probes }: StorageParts,
  {
    config,
    pools,
    ...lock
  }: {
    config: Config;
    pools: RolePools;
    databaseUrl: string;
    connectionTimeoutMs: number;
  },
) {
  return {
    db: pools.worker,
    tenants: pools.tenants,
    bucket,
    probes,
    planDays: config.artifactDays,
    lock: {
      url: lock.databaseUrl,
      applicationName: "postern reconcile",
      connectionTimeoutMs: lock.connectionTimeoutMs,
      role: "postern_worker" as const,
    },
  };
}

/** What a worker runs for stored artifacts. */
export function storageWork(
  reconciling: ReturnType<typeof reconcilingServices>,
  {
    config,
    tenants,
    eraseElsewhere,
    times,
    log,
    metrics,
  }: {
    config: Config;
    tenants: TenantPool;
    eraseElsewhere: EraseElsewhere | null;
    times: Partial<StorageUpkeepTimes> | undefined;
    log: Log;
    metrics: Metrics;
  },
) {
  const { db, bucket, probes, planDays } = reconciling;
  return [
    makeErasureWorker({
      db,
      eraseObjects: (tenantId, most, buckets) => eraseObjectsOf(reconciling, tenantId, { most, buckets }),
      eraseElsewhere,
      log,
      metrics,
    }),
    makeStorageUpkeep({
      ...reconciling,
      retentionDays: config.retentionDays,
      trashDays: config.trashDays,
      log,
      metrics,
      times: { ...STORAGE_UPKEEP_TIMES, ...times },
    }),
    makeExportWorker({
      db,
      tenants,
      bucket,
      probes,
      planDays,
      dataDir: config.dataDir,
      limits: STAGE_LIMITS,
      log,
      metrics,
    }),
  ];
}

async function openStorage(config: Config, metrics: Metrics) {
  const { objectStore, dataDir, publicUrl, host, basePath } = config;
  let { port } = config;
  const signer = makeLinkSigner(config.encryptionKeys);
  const base = () => publicBase({ publicUrl, host, port, basePath });
  const endpoint = () => servedEndpoint({ publicUrl, host, port, basePath });
  const opened = await openBucket({ objectStore, dataDir, signer, endpoint });
  const bucket = measuredBucket(opened, metrics.storageDuration);
  return {
    bucket,
    signer,
    /** PORT may have left the choice to the system. */
    listensOn: (chosen: number) => void (port = chosen),
    base,
    /** Links to the folder lead to clients' address of the API, which this process need not reach: to itself instead. */
    reach: (url: string): string => {
      if (objectStore.kind !== "directory") return url;
      const own = servedEndpoint({ publicUrl: undefined, host, port, basePath });
      return url.replace(prefixOf(endpoint()), prefixOf(own));
    },
  };
}

function prefixOf({ scheme, host, path_prefix }: SignedUrlEndpoint): string {
  return `${scheme}://${host}${path_prefix}/`;
}

/** Logs what is wrong with the bucket's configuration, and stops the start where data would not be safe. */
export async function requireSafeBucket(bucket: Bucket, config: Config, log: Log): Promise<void> {
  const { objectStore, artifactDays } = config;
  const waivers = objectStore.kind === "s3" ? objectStore.waivers : [];
  try {
    const faults = await checkBucket(bucket, { longestRetentionDays: artifactDays, waivers });
    for (const { rule, observed, remedy } of faults) {
      log.warn({ rule, observed, remedy }, "the bucket is not set up as it should be");
    }
    const fatal = faults.filter(({ isFatal }) => isFatal);
    if (fatal.length === 0) return;
    const lines = fatal.map(({ rule, observed, remedy }) => `${rule} is ${observed}: ${remedy}`);
    throw new ConfigError(`The bucket ${bucket.name} is not safe to use.\n${lines.join("\n")}`);
  } catch (error) {
    // Events must go on while the object store is away.
    if (!(error instanceof StoreUnavailableError)) throw error;
    log.warn({ err: error }, "the bucket's configuration was not checked");
  }
}

/** Gives the bucket this installation's mark at its first start; what is wrong with it is logged, and stops only deletion. */
export async function markOwnBucket(
  services: ReturnType<typeof reconcilingServices>,
  log: Log,
): Promise<void> {
  try {
    await isOwnBucket({ ...services, log });
  } catch (error) {
    // Pending migrations, or a database that is away: events come first, and expiry looks again.
    log.warn({ err: error }, "the bucket's owner was not checked");
  }
}
