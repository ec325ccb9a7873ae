/** What the HTTP edge calls, made of the parts of one database. */
import { makeAuditLog } from "../audit/audit.ts";
import { makeUrlRefusals } from "../audit/url-refusals.ts";
import { makeReadiness, type Readiness } from "../api/readiness.ts";
import type { ApiServices } from "../api/services.ts";
import { makeSessionVerifier } from "../api/session.ts";
import { hostsOf } from "../database/hosts/hosts.ts";
import { makeReplicationMonitor } from "../database/replication/replication-monitor.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import { EventLog } from "../deliveries/event-log.ts";
import { DeliveryLog } from "../deliveries/log.ts";
import { makeSendAgain } from "../deliveries/send-again.ts";
import { PersonSends } from "../deliveries/send-by-person.ts";
import { DeliveryStats } from "../deliveries/stats.ts";
import { LogTail } from "../deliveries/tail.ts";
import { Endpoints } from "../endpoints/endpoints.ts";
import { makePublisher } from "../events/publish.ts";
import { makeOwnTokens } from "../portal/own-tokens.ts";
import { PortalSessions } from "../portal/portal-sessions.ts";
import { findEventOfKey } from "../queue/postgres/accept-store.ts";
import { supersedeDispatches } from "../queue/postgres/follow-store.ts";
import { insertOnce, removeReplayed } from "../queue/postgres/once-store.ts";
import type { DispatchQueue } from "../queue/queue.ts";
import { makeQueueMonitor } from "../queue/queue-monitor.ts";
import { Replays } from "../replays/replays.ts";
import { makeExports } from "../storage/exports/exports.ts";
import { makeArtifactChanges } from "../storage/library/artifact-changes.ts";
import { makeDownloads } from "../storage/library/downloads.ts";
import { makeStorageSettings } from "../storage/library/settings.ts";
import { makeStorageMonitor } from "../storage/upkeep/storage-monitor.ts";
import { Tenants } from "../tenants/tenants.ts";
import { exposeMetrics } from "../telemetry/exposition.ts";
import type { Foundation } from "./foundation.ts";
import { describeInstallation } from "./installation.ts";
import type { ServiceOptions } from "./service-options.ts";

export function makeApiServices(
  options: ServiceOptions,
  foundation: Foundation,
): ApiServices & { portal: PortalSessions } {
  const { config, log } = options;
  const { pools, queue, catalog, guard, auditTally, storage, pull, metrics } = foundation;
  const tenants = pools.residents;
  const { bucket, servedFiles } = storage;
  const perTenant = makeTenantServices(options, foundation, { tenants, queue });
  return {
    ...perTenant,
    installation: describeInstallation(config),
    findKey: (tenantId, key) => findEventOfKey(pools.publisher, tenantId, key),
    guard,
    ...makeSessions(options, foundation),
    portalFrameAncestors: config.portalFrameAncestors,
    tenants: new Tenants(pools.publisher),
    publicBase: storage.publicBase,
    logTail: new LogTail({ tenants, databaseUrl: foundation.databaseUrl, log, metrics }),
    personSends: makePersonSends(options, foundation, tenants),
    fetches: pull.fetches,
    publisher: makePublisher(catalog, foundation.makeDurable),
    catalog,
    downloads: makeDownloads({ tenants, bucket, log }),
    artifactChanges: makeArtifactChanges(tenants, bucket),
    servedFiles,
    log,
    metrics,
    exposeMetrics: () => exposeMetrics(metrics, []),
    tracing: foundation.tracing,
    auditTally,
    rateLimits: config.rateLimits,
    metricsToken: config.metricsToken,
    readiness: makeProcessReadiness(options, foundation),
  };
}

/**
 * With shards, `tenants` are those of all: a tenant may move before its receiver
 * answers, and the outcome belongs where it lives then. Only a client's
 * acknowledgement is waited for in the database of the parts.
 */
export function makePersonSends(
  { log }: Pick<ServiceOptions, "log">,
  {
    catalog,
    secretBox,
    sender,
    storage,
    pull,
  }: Pick<Foundation, "catalog" | "secretBox" | "sender" | "storage" | "pull">,
  tenants: TenantPool,
): PersonSends {
  return new PersonSends({
    tenants,
    log: new DeliveryLog(tenants),
    secretBox,
    sender,
    ...pull.offers,
    catalog,
    supersede: supersedeDispatches,
    refusals: makeUrlRefusals({ tenants, log }),
    artifacts: storage.artifacts,
  });
}

/** Services that reach a tenant's rows through the pool alone, so with shards one of each does for all. */
export function makeTenantServices(
  { config: { maxEndpointsPerTenant }, log }: ServiceOptions,
  { guard, secretBox }: Pick<Foundation, "guard" | "secretBox">,
  { tenants, queue }: { tenants: TenantPool; queue: Pick<DispatchQueue, "endpointChanged"> },
) {
  const refusals = makeUrlRefusals({ tenants, log });
  return {
    endpoints: new Endpoints({ tenants, guard, secretBox, maxEndpointsPerTenant, queue, refusals, log }),
    deliveryLog: new DeliveryLog(tenants),
    eventLog: new EventLog(tenants),
    deliveryStats: new DeliveryStats(tenants),
    replays: new Replays({ tenants, secretBox, removeDispatches: removeReplayed }),
    sendAgain: makeSendAgain({ tenants, secretBox, dispatchOnce: insertOnce }),
    exports: makeExports(tenants),
    storageSettings: makeStorageSettings(tenants),
    auditLog: makeAuditLog(tenants),
  };
}

function makeSessions({ config, standingCode, log }: ServiceOptions, { pools }: Foundation) {
  const tokens = makeOwnTokens(config.encryptionKeys);
  const portal = new PortalSessions({ db: pools.publisher, tokens, standingCode: standingCode ?? null });
  return {
    sessions: makeSessionVerifier(config.session, { tokens, isAlive: (id) => portal.isAlive(id) }, { log }),
    portal,
  };
}

function makeProcessReadiness(
  { config, migrations, roles, catalog, log, embeddedTrouble = () => null }: ServiceOptions,
  { databaseUrl, pools, queue, metrics, heartbeat, commits, lane, storage, intake }: Foundation,
): Readiness {
  return makeReadiness({
    db: pools.status,
    embeddedTrouble,
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
