/** What the parts of one database are made of, in every role. */
import { makeAuditTally } from "../audit/audit-tally.ts";
import { makeHeartbeat } from "../database/heartbeat.ts";
import type { Residence } from "../database/residence.ts";
import { openRolePools } from "../database/role-pools.ts";
import { Acceptor } from "../events/acceptor.ts";
import { makeCommitting } from "../events/committing.ts";
import { makeKnownKeys } from "../intake/known-keys.ts";
import { makeCommitWatch } from "../queue/commit-watch.ts";
import { makeLeaseIds } from "../queue/postgres/lease-ids.ts";
import { makePostgresQueue } from "../queue/postgres/postgres-queue.ts";
import type { OwnLane } from "../queue/queue.ts";
import { systemClock } from "../shared/clock.ts";
import { makeSecretBox } from "../shared/secret-box.ts";
import type { EraseElsewhere } from "../tenants/erasure-worker.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Worker } from "../worker/worker.ts";
import type { ProcessParts } from "./process-parts.ts";
import { makePullParts } from "./pull-parts.ts";
import { CONNECTION_TIMEOUT_MS, type ServiceOptions } from "./service-options.ts";
import { makeStorageParts } from "./storage-parts.ts";

/** The worker of this process, if it has one. */
type Lane = { worker: Worker | null };

/** One of the databases. The last two are null where it is the only one. */
export type DatabasePlace = {
  databaseUrl: string;
  metrics: Metrics;
  residence: Residence | null;
  eraseElsewhere: EraseElsewhere | null;
};

export type Foundation = Awaited<ReturnType<typeof makeFoundation>>;

export async function makeFoundation(options: ServiceOptions, process: ProcessParts, place: DatabasePlace) {
  const { config, catalog, roles, log } = options;
  const { databaseUrl, metrics, residence } = place;
  const secretBox = makeSecretBox(config.encryptionKeys, (reason) => metrics.unusableSecrets.inc({ reason }));
  const name = `postern ${[...roles].join("+")}`;
  const pools = openRolePools(
    {
      url: databaseUrl,
      poolSize: config.databasePoolSize,
      applicationName: name,
      connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
      log,
    },
    {
      servesApi: roles.has("api"),
      works: roles.has("worker"),
      relays: config.intake !== undefined || residence !== null,
    },
    residence,
  );
  const { tenants } = pools;
  const { sender, guard, tracing, intake } = process;
  const commits = makeCommitWatch();
  const leaseIds = makeLeaseIds();
  const firstDelayMs = config.retryScheduleMs[0] ?? 0;
  const queue = commits.watch(makePostgresQueue(pools, firstDelayMs, { leaseIds, residence }));
  const lane: Lane = { worker: null };
  const acceptor = new Acceptor({ queue, ownLane: ownLaneOf(lane) });
  const commit = makeCommitting(acceptor, (count) => metrics.eventsAccepted.inc(count));
  const storage = await makeStorageParts({ config, tenants, worker: pools.worker, log, metrics });
  const { artifacts } = storage;
  return {
    databaseUrl,
    metrics,
    pull: makePullParts({ ...options, databaseUrl, pools, queue, secretBox, artifacts, metrics }),
    tracing,
    intake,
    catalog,
    secretBox,
    pools,
    guard,
    sender,
    auditTally: makeAuditTally({ db: pools.worker, log }),
    commits,
    queue,
    leaseIds,
    heartbeat: makeHeartbeat({ db: pools.status, name: [...roles].join("+"), log, metrics }),
    lane,
    acceptor,
    commit,
    makeDurable: intake?.makeDurable(makeKnownKeys(queue, systemClock)) ?? commit,
    storage,
  };
}

/** The publisher hands the worker of this process what it accepts. */
function ownLaneOf(lane: Lane): OwnLane {
  return {
    accept: (work, tenants) => lane.worker?.accept(work, tenants) ?? work({ lease: null, parked: [] }),
    acceptUnleased: (work) => lane.worker?.acceptUnleased(work) ?? work([]),
  };
}
