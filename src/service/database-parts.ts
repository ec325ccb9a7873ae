/** The parts that work on one database, by the roles of the process: not started. */
import { makeHostWatch } from "../database/hosts/host-watch.ts";
import { makeTakenEvents } from "../events/taken-events.ts";
import { onlyHome } from "../intake/homes.ts";
import { inTurn } from "../shared/ending.ts";
import { makePresence } from "../queue/postgres/presence.ts";
import { makeFoundation, type DatabasePlace } from "./foundation.ts";
import type { ProcessParts } from "./process-parts.ts";
import { CONNECTION_TIMEOUT_MS, type ServiceOptions } from "./service-options.ts";
import { reconcilingServices, storageWork } from "./storage-parts.ts";
import { makeAttemptWorker, workerBackground } from "./worker-parts.ts";
import type { Background } from "../shared/every.ts";

export type DatabaseParts = Awaited<ReturnType<typeof makeDatabaseParts>>;

export async function makeDatabaseParts(
  options: ServiceOptions,
  process: ProcessParts,
  place: DatabasePlace,
) {
  const { config, roles, log } = options;
  const { databaseUrl, metrics, eraseElsewhere } = place;
  const foundation = await makeFoundation(options, process, place);
  const { pools, storage, lane, auditTally, heartbeat, intake, pull } = foundation;
  const reconciling = reconcilingServices(storage, {
    config,
    pools,
    databaseUrl,
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
  });
  const background: Background[] = [makeHostWatch({ databaseUrl, log }), heartbeat];
  if (roles.has("worker")) {
    const presence = makePresence({
      db: pools.worker,
      databaseUrl,
      firstLeaseId: foundation.leaseIds.first,
      log,
    });
    lane.worker = makeAttemptWorker(options, foundation, presence);
    background.push(...workerBackground(options, foundation, { worker: lane.worker, presence }));
    // Several databases have one relay, which `shard-parts.ts` makes.
    if (intake !== null && place.residence === null) {
      background.push(intake.makeRelay(onlyHome(makeTakenEvents(foundation.acceptor), metrics)));
    }
    const { tenants } = pools;
    const { storageTimes: times } = options;
    const work = storageWork(reconciling, { config, tenants, eraseElsewhere, times, log, metrics });
    background.push(storage.artifacts, ...work);
  }
  return {
    ...foundation,
    background,
    reconciling,
    close: () =>
      inTurn([
        () => storage.bucket.close(),
        () => pull.waits.close(),
        () => auditTally.close(),
        () => pools.close(),
      ]),
  };
}
