/** Starts and stops a process: its parts, the server and what runs in the background. */
import type { FastifyInstance } from "fastify";
import { HTTP_LIMITS } from "../api/http-limits.ts";
import { openApiDocument } from "../api/openapi.ts";
import { makeServer } from "../api/server.ts";
import { makeSecrets, readConfig } from "../config.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { endOfFailed, inTurn, together } from "../shared/ending.ts";
import type { Background } from "../shared/every.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeDatabaseParts } from "./database-parts.ts";
import { listenAt } from "./listen-at.ts";
import { makeParts } from "./parts.ts";
import type { Parts } from "./parts-type.ts";
import { makeProcessParts } from "./process-parts.ts";
import type { Role, ServiceOptions } from "./service-options.ts";
import { releaseStartMemory } from "./start-memory.ts";
import { markOwnBucket, requireSafeBucket } from "./storage-parts.ts";

export type Service = {
  /** Where it listens. */
  address: string;
  /** No new requests; attempts in flight finish, other leases are given back. */
  stop(): Promise<void>;
};

/** How long requests may take to end at a stop: a person's test waits 15 s for its receiver. */
const REQUEST_GRACE_MS = 17_000;

export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, roles, log } = options;
  const parts = await makeParts(options);
  const started: Background[] = [];
  let app: FastifyInstance | null = null;

  async function stop(): Promise<void> {
    // A request that never ends, such as a half-sent one, must not keep the worker from its own stop.
    const cutOff = setTimeout(() => app?.server.closeAllConnections(), REQUEST_GRACE_MS);
    await inTurn([
      () => together([{ stop: () => app?.close() }, ...started], (part) => part.stop()),
      () => clearTimeout(cutOff),
      () => parts.close(),
    ]);
  }

  try {
    app = await openServer(options, parts);
    const address = await listenAt(app, config);
    parts.listensOn(Number(new URL(address).port));
    for (const part of parts.background) {
      started.push(part);
      part.start();
    }
    log.info({ address, roles: [...roles] }, "started");
    return { address, stop: () => stop().then(() => log.info("stopped")) };
  } catch (error) {
    return endOfFailed(error, stop, (failure) =>
      log.error({ err: failure }, "not all that a failed start had opened could be closed"),
    );
  }
}

/** Checks the buckets first. It does not listen yet. */
async function openServer(
  { config, roles, log, httpLimits }: ServiceOptions,
  parts: Parts,
): Promise<FastifyInstance> {
  for (const { bucket, config: own, reconciling } of parts.stores) {
    await requireSafeBucket(bucket, own, log);
    await markOwnBucket(reconciling, log);
  }
  const app = await makeServer(parts.apiServices, {
    basePath: config.basePath,
    servesApi: roles.has("api"),
    httpLimits: { ...HTTP_LIMITS, ...httpLimits },
    trustedProxies: config.trustedProxies,
  });
  // Before anybody waits for an answer.
  releaseStartMemory();
  return app;
}

/** The parts that compare rows with the bucket, for a command: nothing is started. */
export async function openReconciling(options: Omit<ServiceOptions, "roles" | "catalog">) {
  const catalog = await openCatalog(options.config.eventCatalogFile);
  // It takes and relays no events, so it needs no stream.
  const config = { ...options.config, intake: undefined };
  const all = { ...options, config, catalog, roles: new Set<Role>(["worker"]) };
  const process = await makeProcessParts(all);
  const { databaseUrl } = options;
  const parts = await makeDatabaseParts(all, process, {
    databaseUrl,
    metrics: process.metrics,
    residence: null,
    eraseElsewhere: null,
  });
  return {
    services: parts.reconciling,
    close: () => inTurn([process.stopSending, parts.close, process.close]),
  };
}

/** The document that `/openapi.json` serves, made without a database: nothing of it is started. */
export async function describeApi(): Promise<unknown> {
  const config = readConfig({ ...makeSecrets(), LOG_LEVEL: "silent" });
  const { apiServices } = await makeParts({
    config,
    catalog: await openCatalog(config.eventCatalogFile),
    databaseUrl: "postgres://unused",
    migrations: [],
    roles: new Set(["api"]),
    log: makeLog(config.logLevel),
  });
  const app = await makeServer(apiServices, {
    basePath: "",
    servesApi: true,
    httpLimits: HTTP_LIMITS,
    trustedProxies: [],
  });
  try {
    await app.ready();
    return openApiDocument(app);
  } finally {
    // The parts have nothing open: they connect when they are first used.
    await app.close();
  }
}
