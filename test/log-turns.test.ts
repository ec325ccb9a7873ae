/** Which routes wait for a turn: each reads more of a log than a process can for many callers at once. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { fastify } from "fastify";
import { HTTP_LIMITS } from "../src/api/http-limits.ts";
import { KnownPaths } from "../src/api/known-paths.ts";
import { mountApiRoutes } from "../src/api/mount-routes.ts";
import { makeSecrets, readConfig } from "../src/config.ts";
import { openCatalog } from "../src/events/live-catalog.ts";
import { makeParts } from "../src/service/parts.ts";
import { makeLog } from "../src/telemetry/log.ts";

const logTurn = () => undefined;

it("each route that reads a log takes turns", async () => {
  const config = readConfig({ ...makeSecrets(), LOG_LEVEL: "silent" });
  const parts = await makeParts({
    config,
    catalog: await openCatalog(undefined),
    databaseUrl: "postgres://unused",
    migrations: [],
    roles: new Set(["api"]),
    log: makeLog("silent"),
  });
  const taking: string[] = [];
  const app = fastify();
  app.addHook("onRoute", ({ method, url, preHandler }) => {
    if (preHandler === logTurn && method !== "HEAD") taking.push(`${String(method)} ${url}`);
  });
  await mountApiRoutes(app, parts.apiServices, {
    basePath: "",
    paths: new KnownPaths({ maxParamLength: 100 }),
    limits: { limitRoute: () => Promise.resolve(), judge: (error) => error },
    logTurn,
    httpLimits: HTTP_LIMITS,
  });
  await app.ready();
  await app.close();
  await parts.close();
  assert.deepEqual(taking.sort(), [
    "GET /api/deliveries",
    "GET /api/deliveries/:did",
    "GET /api/events",
    "GET /api/events/:event_id",
    "GET /api/search",
    "GET /api/stats",
    "GET /api/stats/causes",
    "GET /api/stats/endpoints",
    "GET /api/webhooks/:id",
    "GET /api/webhooks/:id/deliveries",
    "GET /api/webhooks/:id/deliveries/:did",
    "POST /api/replays",
  ]);
});
