/**
 * The parts of a process that works on several databases: those of each, and
 * before them services that bring every call to the shard of its tenant.
 */
import { createPool, type Pool } from "../database/pool.ts";
import { makePublisher } from "../events/publish.ts";
import { makeTakenEvents } from "../events/taken-events.ts";
import { makeKnownKeys } from "../intake/known-keys.ts";
import {
  claimHandovers,
  deleteHandovers,
  findDestinations,
  redirectHandovers,
} from "../queue/postgres/handover-store.ts";
import { makeChooser } from "../shards/choose-shard.ts";
import { Directory } from "../shards/directory.ts";
import { makeHandOver } from "../shards/hand-over.ts";
import { withOwnFolder } from "../shards/own-folder.ts";
import { makePulse, type Pulse } from "../shards/pulse.ts";
import { makeShardedDurable } from "../shards/publish-to-shards.ts";
import { makeRouter } from "../shards/router.ts";
import type { Shard } from "../shards/shard-list.ts";
import { systemClock } from "../shared/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { makeApiServices } from "./api-parts.ts";
import { makeDatabaseParts, type DatabaseParts } from "./database-parts.ts";
import type { Parts } from "./parts.ts";
import type { ProcessParts } from "./process-parts.ts";
import { CONNECTION_TIMEOUT_MS, type Background, type ServiceOptions } from "./service-options.ts";
import { makeRoutedServices } from "./routed-services.ts";

/** Two for the directory's looks, one for the pulse. */
const REACH_CONNECTIONS = 3;
const REACH_STATEMENT_MS = 5000;
const HANDOVER_ROWS = {
  destinations: findDestinations,
  claim: claimHandovers,
  redirect: redirectHandovers,
  remove: deleteHandovers,
};

/** One shard's, with what its own API would call. */
export type ShardParts = {
  name: string;
  pulse: Pulse;
  parts: DatabaseParts;
  api: ReturnType<typeof makeApiServices>;
  options: ServiceOptions;
};

export async function makeShardedParts(
  options: ServiceOptions,
  process: ProcessParts,
  shards: readonly Shard[],
): Promise<Parts> {
  const [first] = shards;
  if (first === undefined) throw new Error("there is no shard");
  const reached = new Map(shards.map((shard) => [shard.name, reach(shard, options.log)]));
  const directory = new Directory({
    first: first.name,
    shards: reached,
    choose: makeChooser(shards),
    log: options.log,
  });
  const all = new Map<string, ShardParts>();
  for (const shard of shards) {
    const isFirst = shard === first;
    const pulse = reached.get(shard.name)?.pulse;
    if (pulse === undefined) throw new Error("a shard is not reached");
    all.set(shard.name, await makeShardParts(options, process, { shard, isFirst, directory, pulse }));
  }
  const list = [...all.values()];
  const services = makeRoutedServices(options, {
    router: makeRouter(directory, all),
    shards: list,
    process,
    publisher: makePublisher(options.catalog, makeShardedDurable(directory, publishingOf(list))),
  });
  return {
    background: [
      process.catalogWatch,
      ...list.map(({ pulse }) => pulse),
      ...list.flatMap(({ parts }) => parts.background),
      ...(options.roles.has("worker") ? handOvers(list, directory) : []),
    ],
    stores: list.map(({ parts, options: { config } }) => ({
      bucket: parts.storage.bucket,
      config,
      reconciling: parts.reconciling,
    })),
    listensOn: (port) => {
      for (const { parts } of list) parts.storage.listensOn(port);
    },
    apiServices: services,
    async close() {
      await process.stopSending();
      await Promise.all(list.map(({ parts }) => parts.close()));
      await process.tracing?.close();
      await Promise.all(reached.values().map(({ db }) => db.end()));
    },
  };
}

/** Connections beside the shard's own pools: for its pulse, for who lives there, and in the first for the directory. */
function reach({ name, url }: Shard, log: Log): { db: Pool; pulse: Pulse } {
  const db = createPool({
    url,
    poolSize: REACH_CONNECTIONS,
    applicationName: "postern directory",
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
    statementTimeoutMs: REACH_STATEMENT_MS,
    role: "postern_publisher",
  });
  const pulse = makePulse(
    () => db.query("SELECT"),
    (isAway) => {
      if (isAway) log.error({ shard: name }, "a shard does not answer: its tenants' callers get 503");
      else log.info({ shard: name }, "a shard answers again");
    },
  );
  return { db, pulse };
}

async function makeShardParts(
  options: ServiceOptions,
  process: ProcessParts,
  {
    shard,
    isFirst,
    directory,
    pulse,
  }: { shard: Shard; isFirst: boolean; directory: Directory; pulse: Pulse },
): Promise<ShardParts> {
  const { name, url: databaseUrl } = shard;
  const own: ServiceOptions = {
    ...options,
    databaseUrl,
    log: options.log.child({ shard: name }),
    config: isFirst ? options.config : withOwnFolder(options.config, name),
  };
  const parts = await makeDatabaseParts(own, process, {
    databaseUrl,
    metrics: makeMetrics({ shard: name, process: process.metrics.ofProcess }),
    residence: {
      versionOf(tenantId) {
        const home = directory.peek(tenantId);
        return home?.shard === name ? home.version : null;
      },
    },
  });
  return { name, pulse, parts, api: makeApiServices(own, parts), options: own };
}

function publishingOf(shards: readonly ShardParts[]) {
  return new Map(
    shards.map(({ name, pulse, parts: { commit, queue } }) => [
      name,
      { commit, findKnownKeys: makeKnownKeys(queue, systemClock), pulse },
    ]),
  );
}

/** From each shard to all. */
function handOvers(shards: readonly ShardParts[], directory: Directory): Background[] {
  const targets = new Map(
    shards.map(({ name, parts: { acceptor, metrics } }) => [
      name,
      { taken: makeTakenEvents(acceptor), metrics },
    ]),
  );
  return shards.map(({ name, parts: { pools }, options: { log } }) =>
    makeHandOver({
      from: { name, db: pools.worker },
      rows: HANDOVER_ROWS,
      directory,
      shards: targets,
      log,
    }),
  );
}
