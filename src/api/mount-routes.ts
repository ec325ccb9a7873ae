/** Which routes lie under which path, behind which session check. */
import type { FastifyInstance } from "fastify";
import { Refusal } from "../shared/refusal.ts";
import { FILES_PATH } from "../storage/bytes/file-links.ts";
import { requireEither, requireService, requireUser } from "./access.ts";
import { compressAnswer } from "./compress-answer.ts";
import type { makeCallerLimits } from "./caller-limits.ts";
import type { HttpLimits } from "./http-limits.ts";
import type { KnownPaths } from "./known-paths.ts";
import type { makeLogTurns } from "./log-turns.ts";
import { auditRoutes } from "./routes/audit.ts";
import { deliveryRoutes } from "./routes/deliveries.ts";
import { endpointRoutes } from "./routes/endpoints.ts";
import { eventRoutes } from "./routes/events.ts";
import { fileRoutes } from "./routes/files.ts";
import { searchRoutes, sessionRoutes, urlCheckRoutes } from "./routes/lookups.ts";
import { logStreamRoute } from "./routes/log-stream.ts";
import { operationRoutes } from "./routes/operations.ts";
import { portalAppRoutes, servePortalFiles } from "./routes/portal-app.ts";
import { portalCodeRoutes, portalSessionRoutes } from "./routes/portal.ts";
import { tenantRoutes } from "./routes/tenants.ts";
import { pullRoutes } from "./routes/pull.ts";
import { publishRoutes } from "./routes/publish.ts";
import { replayRoutes } from "./routes/replays.ts";
import { statsRoutes } from "./routes/stats.ts";
import { tenantDeliveryRoutes } from "./routes/tenant-deliveries.ts";
import { referenceRoutes } from "./routes/reference.ts";
import { storageRoutes } from "./routes/storage.ts";
import type { ApiServices } from "./services.ts";

type ApiMounts = {
  basePath: string;
  paths: KnownPaths;
  limits: ReturnType<typeof makeCallerLimits>;
  logTurn: ReturnType<typeof makeLogTurns>;
  httpLimits: HttpLimits;
};

/** What every process serves: for the operator, and the files of stored artifacts. */
export async function mountOperatorRoutes(
  app: FastifyInstance,
  services: ApiServices,
  { basePath, paths }: Pick<ApiMounts, "basePath" | "paths">,
): Promise<void> {
  await app.register(
    async (operations) => {
      paths.learn(operations, () => operationRoutes(operations, services));
    },
    { prefix: basePath },
  );
  // A worker apart serves them too: it tries each link before it says that an artifact is there.
  await app.register(async (files) => fileRoutes(files, services.servedFiles), {
    prefix: `${basePath}${FILES_PATH}`,
  });
}

export async function mountApiRoutes(
  app: FastifyInstance,
  services: ApiServices,
  { basePath, paths, limits, logTurn, httpLimits }: ApiMounts,
): Promise<void> {
  await app.register(
    async (reference) => {
      paths.learn(reference, () => referenceRoutes(reference));
    },
    { prefix: basePath },
  );
  await app.register(
    async (portal) => {
      await servePortalFiles(portal);
      paths.learn(portal, () => portalAppRoutes(portal, services, basePath));
    },
    { prefix: `${basePath}/portal` },
  );
  /** For a tenant's users. */
  async function mount(path: string, addRoutes: (routes: FastifyInstance) => void): Promise<void> {
    await app.register(
      async (routes) => {
        routes.addHook("onRequest", requireUser(services.sessions));
        routes.addHook("onRequest", (request, reply) => limits.limitRoute(request, reply));
        routes.addHook("onSend", compressAnswer);
        routes.setNotFoundHandler(answerNotFound);
        paths.learn(routes, () => addRoutes(routes));
      },
      { prefix: `${basePath}/api/${path}` },
    );
  }

  await mount("webhooks", (routes) => {
    endpointRoutes(routes, services, logTurn);
    deliveryRoutes(routes, services, logTurn);
    pullRoutes(routes, services);
  });
  await mount("deliveries", (routes) => {
    tenantDeliveryRoutes(routes, services, logTurn);
    logStreamRoute(routes, services, httpLimits);
  });
  await mount("stats", (routes) => statsRoutes(routes, services, logTurn));
  await mount("audit", (routes) => auditRoutes(routes, services));
  await mount("replays", (routes) => replayRoutes(routes, services, logTurn));
  await mount("session", (routes) => sessionRoutes(routes, services));
  await mount("search", (routes) => searchRoutes(routes, services, { basePath, logTurn }));
  await mount("url-checks", (routes) => urlCheckRoutes(routes, services));
  await mount("storage", (routes) => storageRoutes(routes, services));
  await app.register(
    async (events) => {
      events.addHook("onRequest", requireEither(services.sessions));
      events.addHook("onRequest", (request, reply) => limits.limitRoute(request, reply));
      events.setNotFoundHandler(answerNotFound);
      paths.learn(events, () => {
        publishRoutes(events, services);
        eventRoutes(events, services, logTurn);
      });
    },
    { prefix: `${basePath}/api/events` },
  );
  /** For the operator's backend. */
  async function mountService(path: string, addRoutes: (routes: FastifyInstance) => void): Promise<void> {
    await app.register(
      async (routes) => {
        routes.addHook("onRequest", requireService(services.sessions));
        routes.setNotFoundHandler(answerNotFound);
        paths.learn(routes, () => addRoutes(routes));
      },
      { prefix: `${basePath}/api/${path}` },
    );
  }

  await mountService("portal/codes", (routes) => portalCodeRoutes(routes, services));
  await mountService("tenants", (routes) => tenantRoutes(routes, services));
  // Its first route is public: who comes has a code and no session yet.
  await app.register(
    async (sessions) => {
      paths.learn(sessions, () => portalSessionRoutes(sessions, services));
    },
    { prefix: `${basePath}/api/portal/sessions` },
  );
}

export function answerNotFound(): never {
  throw new Refusal("not_found");
}
