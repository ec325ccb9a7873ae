/**
 * Puts a process together from the slices, by its roles: `api` serves HTTP,
 * `worker` makes attempts. In a process with both, what the API accepts goes
 * straight to the worker's lanes.
 */
import { makeAuditLog } from "../audit/audit.ts";
import { makeAuditTally } from "../audit/audit-tally.ts";
import { makeUrlRefusals } from "../audit/url-refusals.ts";
import { HTTP_LIMITS, type HttpLimits } from "../api/http-limits.ts";
import { openApiDocument } from "../api/openapi.ts";
import { makeServer } from "../api/server.ts";
import { makeSessionVerifier } from "../api/session.ts";
import { makeSecrets, readConfig, type Config } from "../config.ts";
import type { Migration } from "../database/migration-files.ts";
import { makeHeartbeat } from "../database/heartbeat.ts";
import { openRolePools } from "../database/role-pools.ts";
import { makeDeliveryLog } from "../deliveries/log.ts";
import { makePersonSends } from "../deliveries/send-by-person.ts";
import type { OwnLane } from "../queue/queue.ts";
import { makePostgresQueue, postgresDispatchHold } from "../queue/postgres/postgres-queue.ts";
import { makeDeadWorkers } from "../queue/postgres/dead-workers.ts";
import { makeLeaseIds } from "../queue/postgres/lease-ids.ts";
import { makePresence } from "../queue/postgres/presence.ts";
import { makeCommitWatch } from "../queue/commit-watch.ts";
import { makeQueueMonitor } from "../queue/queue-monitor.ts";
import { makeTargetCache } from "../worker/target-cache.ts";
import { makeUpkeep } from "./upkeep.ts";
import { makeWakeListener } from "../queue/postgres/wake-listener.ts";
import { makeWorker, type Worker } from "../worker/worker.ts";
import { makeEndpointHealth } from "../endpoints/endpoint-health.ts";
import { makeEndpoints } from "../endpoints/endpoints.ts";
import { readStoredTargets } from "../endpoints/send-target.ts";
import { loadCatalog } from "../events/catalog.ts";
import { makeOutbox } from "../events/outbox.ts";
import { makePublisher } from "../events/publish.ts";
import { makeAddressPolicy } from "../outbound/address-rules.ts";
import { makeGuard } from "../outbound/guard.ts";
import { makeSender, type SenderLimits } from "../outbound/send.ts";
import { makeReadiness } from "../api/readiness.ts";
import { systemClock } from "../shared/clock.ts";
import { ConfigError } from "../shared/config-error.ts";
import { makeSecretBox } from "../shared/secret-box.ts";
import { makeArtifactKeeper } from "../storage/artifacts/artifact-keeper.ts";
import { checkBucket } from "../storage/bytes/bucket-check.ts";
import { StoreUnavailableError, type Bucket } from "../storage/bytes/bucket.ts";
import {
  makeStorageUpkeep,
  STORAGE_UPKEEP_TIMES,
  type StorageUpkeepTimes,
} from "../storage/upkeep/storage-upkeep.ts";
import { makeLinkSigner } from "../storage/bytes/file-links.ts";
import { measuredBucket } from "../storage/bytes/measured-bucket.ts";
import { openBucket, servedEndpoint } from "../storage/bytes/open-bucket.ts";
import { makeDownloads } from "../storage/library/downloads.ts";
import { STAGE_LIMITS } from "../storage/exports/export-stage.ts";
import { makeExportWorker } from "../storage/exports/export-worker.ts";
import { makeExports } from "../storage/exports/exports.ts";
import { makeLinkProbes } from "../storage/library/link-probes.ts";
import type { SignedUrlEndpoint } from "../storage/rules/signed-url.ts";
import { makeStorageSettings } from "../storage/library/settings.ts";
import { makeLog, type Log } from "../telemetry/log.ts";
import { makeMetrics, type Metrics } from "../telemetry/metrics.ts";

export type Role = "api" | "worker";

export type ServiceOptions = {
  config: Config;
  databaseUrl: string;
  migrations: Migration[];
  roles: ReadonlySet<Role>;
  log: Log;
  /** Roots to trust beside Node's own; only the demonstration has one. */
  extraCaPems?: readonly string[];
  /** Other than usual; only tests, which cannot wait so long, have them. */
  httpLimits?: Partial<HttpLimits>;
  senderLimits?: Partial<SenderLimits>;
  storageTimes?: Partial<StorageUpkeepTimes>;
};

export type Service = {
  /** Where it listens. */
  address: string;
  /** No new requests; attempts in flight finish, other leases are given back. */
  stop(): Promise<void>;
};

type Part = { start(): void; stop(): Promise<void> };

const CONNECTION_TIMEOUT_MS = 3000;
/** How long requests may take to end at a stop: a person's test waits 15 s for its receiver. */
const REQUEST_GRACE_MS = 17_000;

export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, roles, log } = options;
  const parts = await makeParts(options);
  try {
    await requireSafeBucket(parts.bucket, config, log);
  } catch (error) {
    await parts.close();
    throw error;
  }
  const app = await makeServer(parts.apiServices, {
    basePath: config.basePath,
    servesApi: roles.has("api"),
    httpLimits: { ...HTTP_LIMITS, ...options.httpLimits },
    trustedProxies: config.trustedProxies,
  });
  const address = await app.listen({ port: config.port, host: config.host });
  parts.listensOn(Number(new URL(address).port));
  for (const part of parts.background) part.start();
  log.info({ address, roles: [...roles] }, "started");
  return {
    address,
    async stop() {
      // A request that never ends, such as a half-sent one, must not keep the worker from its own stop.
      const cutOff = setTimeout(() => app.server.closeAllConnections(), REQUEST_GRACE_MS);
      await Promise.all([app.close(), ...parts.background.map((part) => part.stop())]);
      clearTimeout(cutOff);
      await parts.close();
      log.info("stopped");
    },
  };
}

async function makeParts(options: ServiceOptions) {
  const { config, databaseUrl, roles, log } = options;
  const metrics = makeMetrics();
  const catalog = await loadCatalog(config.eventCatalogFile);
  const secretBox = makeSecretBox(config.encryptionKeys, (reason) => metrics.unusableSecrets.inc({ reason }));
  const pools = openRolePools(
    {
      url: databaseUrl,
      poolSize: config.databasePoolSize,
      applicationName: `postern ${[...roles].join("+")}`,
      connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
      log,
    },
    { servesApi: roles.has("api"), works: roles.has("worker") },
  );
  const { tenants } = pools;
  const { guard, sender } = makeOutbound(options);
  const auditTally = makeAuditTally({ db: pools.worker, log });
  const refusals = makeUrlRefusals({ tenants, log });
  const commits = makeCommitWatch();
  const leaseIds = makeLeaseIds();
  const queue = commits.watch(makePostgresQueue(pools, config.retryScheduleMs[0] ?? 0, leaseIds));
  const heartbeat = makeHeartbeat({ db: pools.status, name: [...roles].join("+"), log });
  // The worker publishes what it finds about endpoints, the publisher hands it what it accepts.
  const lane: { worker: Worker | null } = { worker: null };
  const ownLane: OwnLane = {
    hasRoom: () => lane.worker?.hasRoom() ?? false,
    backlogged: () => lane.worker?.backlogged() ?? [],
    take: (accepted) => lane.worker?.take(accepted),
  };
  const publisher = makePublisher({ db: pools.publisher, queue, catalog, ownLane });
  const { bucket, servedFiles, listensOn, reach } = await makeStorage(config, metrics);
  const probes = makeLinkProbes({ bucket, tenants, reach });
  const artifacts = makeArtifactKeeper({
    tenants,
    bucket,
    probes,
    planDays: config.artifactDays,
    log,
    metrics,
  });
  const reconciling = {
    db: pools.worker,
    bucket,
    publisher,
    probes,
    planDays: config.artifactDays,
    lock: {
      url: databaseUrl,
      applicationName: "postern reconcile",
      connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
      role: "postern_worker" as const,
    },
  };
  const background: Part[] = [heartbeat];
  if (roles.has("worker")) {
    const presence = makePresence({ db: pools.worker, databaseUrl, firstLeaseId: leaseIds.first, log });
    const worker = makeWorker({
      queue,
      presence,
      targets: makeTargetCache((keys) => readStoredTargets(pools.worker, keys), secretBox),
      sender,
      health: makeEndpointHealth({
        db: pools.worker,
        publisher,
        dispatches: postgresDispatchHold,
        disableAfterMs: config.disableAfterMs,
        metrics,
      }),
      blockedTarget: (target) => auditTally.blockedTarget(target),
      artifacts,
      outbox: makeOutbox({ db: pools.worker, queue, catalog, log, metrics }),
      scheduleMs: config.retryScheduleMs,
      clock: systemClock,
      log,
      metrics,
    });
    lane.worker = worker;
    background.push(
      makeWakeListener({
        databaseUrl,
        log,
        wake: () => worker.wake(),
        withdraw: (superseded) => worker.withdraw(superseded),
      }),
      startedTogether(presence, worker),
      makeUpkeep({
        db: pools.worker,
        deadWorkers: makeDeadWorkers({ db: pools.worker, presence, log, metrics }),
        catalog,
        log,
        metrics,
        retentionDays: config.retentionDays,
      }),
      makeStorageUpkeep({
        ...reconciling,
        retentionDays: config.retentionDays,
        log,
        metrics,
        times: { ...STORAGE_UPKEEP_TIMES, ...options.storageTimes },
      }),
      makeExportWorker({
        db: pools.worker,
        tenants,
        bucket,
        probes,
        publisher,
        planDays: config.artifactDays,
        dataDir: config.dataDir,
        limits: STAGE_LIMITS,
        log,
        metrics,
      }),
    );
  }
  const deliveryLog = makeDeliveryLog(tenants);
  return {
    background,
    bucket,
    reconciling,
    listensOn,
    apiServices: {
      sessions: makeSessionVerifier(config.session),
      endpoints: makeEndpoints({
        tenants,
        guard,
        secretBox,
        maxEndpointsPerTenant: config.maxEndpointsPerTenant,
        dispatches: postgresDispatchHold,
        refusals,
      }),
      deliveryLog,
      personSends: makePersonSends({
        tenants,
        log: deliveryLog,
        secretBox,
        sender,
        catalog,
        dispatches: postgresDispatchHold,
        refusals,
        artifacts,
      }),
      publisher,
      catalog,
      downloads: makeDownloads({ tenants, bucket, log }),
      exports: makeExports(tenants),
      storageSettings: makeStorageSettings(tenants),
      servedFiles,
      log,
      metrics,
      auditLog: makeAuditLog(tenants),
      auditTally,
      rateLimits: config.rateLimits,
      metricsToken: config.metricsToken,
      readiness: makeReadiness({
        db: pools.status,
        migrations: options.migrations,
        queueMonitor: makeQueueMonitor({ db: pools.worker, metrics }),
        heartbeat,
        commits,
        worker: () => lane.worker,
        log,
      }),
    },
    async close() {
      await artifacts.stop();
      await sender.close();
      guard.close();
      bucket.close();
      await auditTally.close();
      await pools.close();
    },
  };
}

/** The second stops first: while the worker has leases, others can see that it lives. */
function startedTogether(first: Part, second: Part): Part {
  return {
    start() {
      first.start();
      second.start();
    },
    async stop() {
      await second.stop();
      await first.stop();
    },
  };
}

async function makeStorage(config: Config, metrics: Metrics) {
  const { objectStore, dataDir, publicUrl, host, basePath } = config;
  let { port } = config;
  const signer = makeLinkSigner(config.encryptionKeys);
  const endpoint = () => servedEndpoint({ publicUrl, host, port, basePath });
  const opened = await openBucket({ objectStore, dataDir, signer, endpoint });
  const bucket = measuredBucket(opened, metrics.storageDuration);
  return {
    bucket,
    servedFiles: objectStore.kind === "directory" ? { bucket, signer } : null,
    /** PORT may have left the choice to the system. */
    listensOn: (chosen: number) => void (port = chosen),
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
async function requireSafeBucket(bucket: Bucket, config: Config, log: Log): Promise<void> {
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

function makeOutbound({ config, extraCaPems = [], senderLimits = {} }: ServiceOptions) {
  const { outbound } = config;
  const guard = makeGuard({
    addressPolicy: makeAddressPolicy({
      allowedCidrs: outbound.allowedCidrs,
      deniedCidrs: outbound.deniedCidrs,
    }),
    privateTargetsAllowed: outbound.allowedCidrs.length > 0,
    blockedPorts: outbound.blockedPorts,
    dnsServers: outbound.dnsServers,
  });
  return { guard, sender: makeSender({ guard, extraCaPems, limits: senderLimits }) };
}

/** The parts that compare rows with the bucket, for a command: nothing is started. */
export async function openReconciling(options: Omit<ServiceOptions, "roles">) {
  const parts = await makeParts({ ...options, roles: new Set(["worker"]) });
  return { services: parts.reconciling, close: () => parts.close() };
}

/** The document that `/openapi.json` serves, made without a database: nothing of it is started. */
export async function describeApi(): Promise<unknown> {
  const config = readConfig({ ...makeSecrets(), LOG_LEVEL: "silent" });
  const parts = await makeParts({
    config,
    databaseUrl: "postgres://unused",
    migrations: [],
    roles: new Set(["api"]),
    log: makeLog(config.logLevel),
  });
  const app = await makeServer(parts.apiServices, {
    basePath: "",
    servesApi: true,
    httpLimits: HTTP_LIMITS,
    trustedProxies: [],
  });
  await app.ready();
  const document = openApiDocument(app);
  await app.close();
  await parts.close();
  return document;
}
