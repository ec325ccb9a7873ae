/**
 * The parts of a process by its roles, put together from the slices and not
 * started. In a process with both roles, what the API accepts goes straight to
 * the worker's lanes.
 */
import { inTurn } from "../shared/ending.ts";
import { makeApiServices } from "./api-parts.ts";
import { makeDatabaseParts } from "./database-parts.ts";
import { makeProcessParts } from "./process-parts.ts";
import type { Parts } from "./parts-type.ts";
import type { ServiceOptions } from "./service-options.ts";
import { makeShardedParts } from "./shard-parts.ts";

export async function makeParts(options: ServiceOptions): Promise<Parts> {
  const process = await makeProcessParts(options);
  const { shards } = options.config;
  if (shards !== undefined) return makeShardedParts(options, process, shards);
  const { databaseUrl, config } = options;
  const parts = await makeDatabaseParts(options, process, {
    databaseUrl,
    metrics: process.metrics,
    residence: null,
    eraseElsewhere: null,
  });
  const { bucket, listensOn } = parts.storage;
  return {
    background: [process.catalogWatch, ...parts.background],
    stores: [{ bucket, config, reconciling: parts.reconciling }],
    listensOn,
    apiServices: makeApiServices(options, parts),
    close: () => inTurn([process.stopSending, parts.close, process.close]),
  };
}
