/**
 * The parts of a process by its roles, put together from the slices and not
 * started. In a process with both roles, what the API accepts goes straight to
 * the worker's lanes.
 */
import type { ApiServices } from "../api/services.ts";
import type { Config } from "../config.ts";
import { makeApiServices } from "./api-parts.ts";
import { makeDatabaseParts, type DatabaseParts } from "./database-parts.ts";
import { makeProcessParts } from "./process-parts.ts";
import type { Background, ServiceOptions } from "./service-options.ts";
import { makeShardedParts } from "./shard-parts.ts";

export type Parts = {
  /** Stopped together. */
  background: Background[];
  /** Of each database. */
  stores: {
    bucket: DatabaseParts["storage"]["bucket"];
    config: Config;
    reconciling: DatabaseParts["reconciling"];
  }[];
  listensOn(port: number): void;
  apiServices: ApiServices;
  close(): Promise<void>;
};

export async function makeParts(options: ServiceOptions): Promise<Parts> {
  const process = await makeProcessParts(options);
  const { shards } = options.config;
  if (shards !== undefined) return makeShardedParts(options, process, shards);
  const { databaseUrl, config } = options;
  const parts = await makeDatabaseParts(options, process, {
    databaseUrl,
    metrics: process.metrics,
    residence: null,
  });
  const { bucket, listensOn } = parts.storage;
  return {
    background: [process.catalogWatch, ...parts.background],
    stores: [{ bucket, config, reconciling: parts.reconciling }],
    listensOn,
    apiServices: makeApiServices(options, parts),
    async close() {
      await process.stopSending();
      await parts.close();
      await process.tracing?.close();
    },
  };
}
