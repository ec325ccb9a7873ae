/** The parts of one of several databases. */
import { createPool, type Pool } from "../database/pool.ts";
import type { Directory } from "../shards/directory.ts";
import { withOwnBucket } from "../shards/own-bucket.ts";
import { makePulse, type Pulse } from "../shards/pulse.ts";
import type { Shard } from "../shards/shard-list.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import type { EraseElsewhere } from "../tenants/erasure-worker.ts";
import { makeApiServices } from "./api-parts.ts";
import { makeDatabaseParts, type DatabaseParts } from "./database-parts.ts";
import type { ProcessParts } from "./process-parts.ts";
import { CONNECTION_TIMEOUT_MS, type ServiceOptions } from "./service-options.ts";

/** Two for the directory's looks, one for the pulse. */
const REACH_CONNECTIONS = 3;
const REACH_STATEMENT_MS = 5000;

/** One shard's, with what its own API would call. */
export type ShardParts = {
  name: string;
  pulse: Pulse;
  parts: DatabaseParts;
  api: ReturnType<typeof makeApiServices>;
  options: ServiceOptions;
};

/** Connections beside the shard's own pools: for its pulse, for who lives there, and in the first for the directory. */
export function reach(
  { name, url }: Shard,
  { log, absentShards }: Pick<ServiceOptions, "log" | "absentShards">,
): { db: Pool; pulse: Pulse } {
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
    absentShards?.get(name),
  );
  return { db, pulse };
}

export async function makeShardParts(
  options: ServiceOptions,
  process: ProcessParts,
  {
    shard,
    isFirst,
    directory,
    pulse,
    eraseElsewhere,
  }: { shard: Shard; isFirst: boolean; directory: Directory; pulse: Pulse; eraseElsewhere: EraseElsewhere },
): Promise<ShardParts> {
  const { name, url: databaseUrl } = shard;
  const own: ServiceOptions = {
    ...options,
    databaseUrl,
    log: options.log.child({ shard: name }),
    config: isFirst ? options.config : withOwnBucket(options.config, name),
  };
  const parts = await makeDatabaseParts(own, process, {
    databaseUrl,
    metrics: makeMetrics({ shard: name, process: process.metrics.ofProcess }),
    eraseElsewhere,
    residence: {
      versionOf(tenantId) {
        const home = directory.peek(tenantId);
        return home?.shard === name ? home.version : null;
      },
    },
  });
  return { name, pulse, parts, api: makeApiServices(own, parts), options: own };
}
