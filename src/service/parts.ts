/**
 * The parts of a process by its roles, put together from the slices and not
 * started. In a process with both roles, what the API accepts goes straight to
 * the worker's lanes.
 */
import { makeAuditTally } from "../audit/audit-tally.ts";
import { makeAuditLog } from "../audit/audit.ts";
import { makeUrlRefusals } from "../audit/url-refusals.ts";
import type { HttpLimits } from "../api/http-limits.ts";
import { makeReadiness, type Readiness } from "../api/readiness.ts";
import type { ApiServices } from "../api/services.ts";
import { makeSessionVerifier } from "../api/session.ts";
import type { Config } from "../config.ts";
import { makeHostWatch } from "../database/host-watch.ts";
import { makeHeartbeat } from "../database/heartbeat.ts";
import type { Migration } from "../database/migration-files.ts";
import { hostsOf } from "../database/hosts.ts";
import { makeReplicationMonitor } from "../database/replication-monitor.ts";
import { openRolePools } from "../database/role-pools.ts";
import { EventLog } from "../deliveries/event-log.ts";
import { DeliveryLog } from "../deliveries/log.ts";
import { makeSendAgain } from "../deliveries/send-again.ts";
import { LogTail } from "../deliveries/tail.ts";
import { DeliveryStats } from "../deliveries/stats.ts";
import { PersonSends } from "../deliveries/send-by-person.ts";
import { makeEndpointHealth } from "../endpoints/endpoint-health.ts";
import { Endpoints } from "../endpoints/endpoints.ts";
import { readStoredTargets } from "../endpoints/send-target.ts";
import { makeCatalogWatch } from "../events/catalog-watch.ts";
import type { CatalogFile } from "../events/live-catalog.ts";
import { makeOutbox } from "../events/outbox.ts";
import { Acceptor } from "../events/acceptor.ts";
import { makeCommitting } from "../events/committing.ts";
import { makePublisher } from "../events/publish.ts";
import type { SenderLimits } from "../outbound/send.ts";
import { makeCommitWatch } from "../queue/commit-watch.ts";
import { findEventOfKey } from "../queue/postgres/accept-store.ts";
import { makeDeadWorkers } from "../queue/postgres/dead-workers.ts";
import { makeLeaseIds } from "../queue/postgres/lease-ids.ts";
import { makePresence, type WorkerPresence } from "../queue/postgres/presence.ts";
import { supersedeDispatches } from "../queue/postgres/follow-store.ts";
import { insertOnce, insertReplayed, removeReplayed } from "../queue/postgres/once-store.ts";
import { makePostgresQueue } from "../queue/postgres/postgres-queue.ts";
import { makeSlotStore } from "../queue/postgres/slots.ts";
import { makeWakeListener } from "../queue/postgres/wake-listener.ts";
import { makeQueueMonitor } from "../queue/queue-monitor.ts";
import type { OwnLane, Presence } from "../queue/queue.ts";
import { Replays } from "../replays/replays.ts";
import { makeReplayWorker } from "../replays/replay-worker.ts";
import { makeOwnTokens } from "../portal/own-tokens.ts";
import { PortalSessions, type StandingCode } from "../portal/portal-sessions.ts";
import { Tenants } from "../tenants/tenants.ts";
import { systemClock } from "../shared/clock.ts";
import { makeSecretBox } from "../shared/secret-box.ts";
import { makeExports } from "../storage/exports/exports.ts";
import { makeArtifactChanges } from "../storage/library/artifact-changes.ts";
import { makeDownloads } from "../storage/library/downloads.ts";
import { makeStorageSettings } from "../storage/library/settings.ts";
import { makeStorageMonitor } from "../storage/upkeep/storage-monitor.ts";
import type { StorageUpkeepTimes } from "../storage/upkeep/storage-upkeep.ts";
import type { Log } from "../telemetry/log.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { makeTargetCache } from "../worker/target-cache.ts";
import { makeWorker, type Worker } from "../worker/worker.ts";
import { describeInstallation } from "./installation.ts";
import { openIntake } from "./intake-parts.ts";
import { makeOutbound } from "./outbound-parts.ts";
import { makePullParts } from "./pull-parts.ts";
import { makeStorageParts, reconcilingServices, storageWork } from "./storage-parts.ts";
import { makeUpkeep, type UpkeepTimes } from "./upkeep.ts";

export type Role = "api" | "worker";

export type ServiceOptions = {
  config: Config;
  catalog: CatalogFile;
  databaseUrl: string;
  migrations: Migration[];
  roles: ReadonlySet<Role>;
  log: Log;
  /** Roots to trust beside Node's own; only the demonstration has one. */
  extraCaPems?: readonly string[];
  /** Opens the portal as often as one likes, from this machine; only the demonstration has one. */
  standingCode?: StandingCode;
  /** Other than usual; only tests, which cannot wait so long, have them. */
  httpLimits?: Partial<HttpLimits>;
  senderLimits?: Partial<SenderLimits>;
  storageTimes?: Partial<StorageUpkeepTimes>;
  upkeepTimes?: Partial<UpkeepTimes>;
};

const CONNECTION_TIMEOUT_MS = 3000;

/** The worker of this process, if it has one. */
type Lane = { worker: Worker | null };
type Background = { start(): void; stop(): Promise<void> };
type Foundation = Awaited<ReturnType<typeof makeFoundation>>;

export async function makeParts(options: ServiceOptions) {
  const { config, databaseUrl, roles } = options;
  const foundation = await makeFoundation(options);
  const { pools, storage, lane, sender, guard, auditTally, heartbeat } = foundation;
  const reconciling = reconcilingServices(storage, {
    config,
    pools,
    databaseUrl,
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
  });
  const catalogWatch = makeCatalogWatch({
    catalog: options.catalog,
    log: options.log,
    metrics: foundation.metrics,
  });
  const background: Background[] = [
    makeHostWatch({ databaseUrl, log: options.log }),
    heartbeat,
    catalogWatch,
  ];
  if (roles.has("worker")) {
    const { leaseIds } = foundation;
    const presence = makePresence({
      db: pools.worker,
      databaseUrl,
      firstLeaseId: leaseIds.first,
      log: options.log,
    });
    lane.worker = makeAttemptWorker(options, foundation, presence);
    background.push(...workerBackground(options, foundation, { worker: lane.worker, presence }));
    if (foundation.intake !== null) background.push(foundation.intake.relay);
    const { tenants } = pools;
    const { log, storageTimes: times } = options;
    background.push(
      storage.artifacts,
      ...storageWork(reconciling, { config, tenants, times, log, metrics: foundation.metrics }),
    );
  }
  return {
    background,
    bucket: storage.bucket,
    reconciling,
    listensOn: storage.listensOn,
    apiServices: makeApiServices(options, foundation),
    async close() {
      await sender.close();
      guard.close();
      storage.bucket.close();
      await foundation.pull.waits.close();
      await auditTally.close();
      await foundation.intake?.close();
      await foundation.tracing?.close();
      await pools.close();
    },
  };
}

/** What both roles use. */
async function makeFoundation(options: ServiceOptions) {
  const { config, catalog, databaseUrl, roles, log } = options;
  const metrics = makeMetrics();
  const secretBox = makeSecretBox(config.encryptionKeys, (reason) => metrics.unusableSecrets.inc({ reason }));
  const pools = openRolePools(
    {
      url: databaseUrl,
      poolSize: config.databasePoolSize,
      applicationName: `postern ${[...roles].join("+")}`,
      connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
      log,
    },
    {
      servesApi: roles.has("api"),
      works: roles.has("worker"),
      relays: roles.has("worker") && config.intake !== undefined,
    },
  );
  const { tenants } = pools;
  const { guard, sender } = makeOutbound(options);
  const auditTally = makeAuditTally({ db: pools.worker, log });
  const commits = makeCommitWatch();
  const leaseIds = makeLeaseIds();
  const queue = commits.watch(makePostgresQueue(pools, config.retryScheduleMs[0] ?? 0, leaseIds));
  const heartbeat = makeHeartbeat({ db: pools.status, name: [...roles].join("+"), log });
  const lane: Lane = { worker: null };
  const acceptor = new Acceptor({ queue, ownLane: ownLaneOf(lane) });
  const tracing = await openTracing(options);
  const name = `postern ${[...roles].join("+")}`;
  const intake = await openIntake(config, { name, acceptor, catalog, tracing, log, metrics });
  const publisher = makePublisher(catalog, intake?.makeDurable ?? makeCommitting(acceptor));
  const storage = await makeStorageParts({ config, tenants, worker: pools.worker, log, metrics });
  const { artifacts } = storage;
  return {
    metrics,
    pull: makePullParts({ ...options, pools, queue, secretBox, artifacts, metrics }),
    tracing,
    intake,
    catalog,
    secretBox,
    pools,
    guard,
    sender,
    auditTally,
    commits,
    queue,
    leaseIds,
    heartbeat,
    lane,
    publisher,
    storage,
  };
}

/** Loaded for a collector alone. */
async function openTracing({ config, log }: ServiceOptions): Promise<Tracing | null> {
  if (config.tracing === undefined) return null;
  const { makeTracing } = await import("../telemetry/otlp-tracing.ts");
  return makeTracing(config.tracing, log);
}

/** The publisher hands the worker of this process what it accepts. */
function ownLaneOf(lane: Lane): OwnLane {
  return {
    accept: (work) => lane.worker?.accept(work) ?? work({ lease: null, parked: [] }),
    backlogged: () => lane.worker?.backlogged() ?? [],
  };
}

function makeAttemptWorker(
  { config, log }: ServiceOptions,
  foundation: Foundation,
  presence: Presence,
): Worker {
  const { pools, queue, catalog, secretBox, sender, auditTally, storage, metrics, tracing, leaseIds } =
    foundation;
  return makeWorker({
    queue,
    presence,
    slots: makeSlotStore(pools.worker, leaseIds.first),
    targets: makeTargetCache((keys) => readStoredTargets(pools.worker, keys), secretBox),
    sender,
    health: makeEndpointHealth({
      db: pools.worker,
      queue,
      log,
      disableAfterMs: config.disableAfterMs,
      metrics,
    }),
    blockedTarget: (target) => auditTally.blockedTarget(target),
    artifacts: storage.artifacts,
    outbox: makeOutbox({ queue, catalog, log, metrics, tracing, operatorTenant: config.operatorTenant }),
    tracing,
    scheduleMs: config.retryScheduleMs,
    clock: systemClock,
    log,
    metrics,
  });
}

/** The worker, what wakes it, and the upkeep of its tables. */
function workerBackground(
  { config, databaseUrl, log, upkeepTimes }: ServiceOptions,
  { pools, catalog, metrics, pull }: Foundation,
  { worker, presence }: { worker: Worker; presence: WorkerPresence },
): Background[] {
  return [
    makeWakeListener({
      databaseUrl,
      log,
      wake: (group) => worker.wake(group),
      slotsChanged: () => worker.slotsChanged(),
      withdraw: (superseded) => worker.withdraw(superseded),
    }),
    startedTogether(presence, worker),
    makeUpkeep({
      db: pools.worker,
      deadWorkers: makeDeadWorkers({ db: pools.worker, presence, log, metrics }),
      pull: pull.upkeep,
      catalog,
      log,
      metrics,
      retentionDays: config.retentionDays,
      disableAfterMs: config.disableAfterMs,
      times: upkeepTimes,
    }),
    makeReplayWorker({
      db: pools.worker,
      tenants: pools.tenants,
      addDispatches: insertReplayed,
      log,
      metrics,
    }),
  ];
}

/** The second stops first: while the worker has leases, others can see that it lives. */
function startedTogether(first: Background, second: Background): Background {
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

function makeApiServices(options: ServiceOptions, foundation: Foundation): ApiServices {
  const { config, log } = options;
  const { maxEndpointsPerTenant } = config;
  const { pools, queue, catalog, secretBox, publisher, guard, sender, auditTally, storage, pull, metrics } =
    foundation;
  const { tenants } = pools;
  const { bucket, servedFiles, artifacts } = storage;
  const refusals = makeUrlRefusals({ tenants, log });
  const deliveryLog = new DeliveryLog(tenants);
  return {
    installation: describeInstallation(config),
    findKey: (tenantId, key) => findEventOfKey(pools.publisher, tenantId, key),
    guard,
    ...makeSessions(options, foundation),
    portalFrameAncestors: config.portalFrameAncestors,
    tenants: new Tenants(pools.publisher),
    publicBase: storage.publicBase,
    endpoints: new Endpoints({ tenants, guard, secretBox, maxEndpointsPerTenant, queue, refusals, log }),
    deliveryLog,
    eventLog: new EventLog(tenants),
    deliveryStats: new DeliveryStats(tenants),
    logTail: new LogTail({ tenants, databaseUrl: options.databaseUrl, log, metrics }),
    personSends: new PersonSends({
      tenants,
      log: deliveryLog,
      secretBox,
      sender,
      ...pull.offers,
      catalog,
      supersede: supersedeDispatches,
      refusals,
      artifacts,
    }),
    fetches: pull.fetches,
    replays: new Replays({ tenants, secretBox, removeDispatches: removeReplayed }),
    sendAgain: makeSendAgain({ tenants, secretBox, dispatchOnce: insertOnce }),
    publisher,
    catalog,
    downloads: makeDownloads({ tenants, bucket, log }),
    artifactChanges: makeArtifactChanges(tenants, bucket),
    exports: makeExports(tenants),
    storageSettings: makeStorageSettings(tenants),
    servedFiles,
    log,
    metrics,
    tracing: foundation.tracing,
    auditLog: makeAuditLog(tenants),
    auditTally,
    rateLimits: config.rateLimits,
    metricsToken: config.metricsToken,
    readiness: makeProcessReadiness(options, foundation),
  };
}

function makeSessions({ config, standingCode }: ServiceOptions, { pools }: Foundation) {
  const tokens = makeOwnTokens(config.encryptionKeys);
  const portal = new PortalSessions({ db: pools.publisher, tokens, standingCode: standingCode ?? null });
  return {
    sessions: makeSessionVerifier(config.session, { tokens, isAlive: (id) => portal.isAlive(id) }),
    portal,
  };
}

function makeProcessReadiness(
  { config, databaseUrl, migrations, roles, catalog, log }: ServiceOptions,
  foundation: Foundation,
): Readiness {
  const { pools, queue, metrics, heartbeat, commits, lane, storage, intake } = foundation;
  return makeReadiness({
    db: pools.status,
    migrations,
    queueMonitor: makeQueueMonitor({ queue, metrics }),
    heartbeat,
    commits,
    worker: () => lane.worker,
    catalog,
    replication: makeReplicationMonitor({
      db: pools.status,
      metrics,
      durability: config.durability,
      hasSeveralHosts: hostsOf(databaseUrl) !== null,
    }),
    intake: intake === null ? null : { monitor: intake.monitor, takesEvents: roles.has("api") },
    storage: makeStorageMonitor({ db: pools.status, bucketName: storage.bucket.name, metrics }),
    log,
  });
}
