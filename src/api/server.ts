/** The HTTP edge: routes under the base path, behind their session checks, with one answer to every error. */
import { randomUUID } from "node:crypto";
import { METHODS } from "node:http";
import { fastifySwagger } from "@fastify/swagger";
import { fastify, type FastifyBaseLogger, type FastifyInstance } from "fastify";
import { Refusal } from "../shared/refusal.ts";
import { FILES_PATH } from "../storage/bytes/file-links.ts";
import { requireService, requireUser } from "./access.ts";
import { makeCallerLimits } from "./caller-limits.ts";
import { answerClientError, watchExchanges } from "./client-errors.ts";
import { answerError, BrokenAnswerLog } from "./error-answers.ts";
import { makeHttpServer, namesOneHost, refuseExpectations, type HttpLimits } from "./http-limits.ts";
import { makeLogTurns } from "./log-turns.ts";
import { openApiHead } from "./openapi.ts";
import { acceptLenientJson } from "./parse.ts";
import { auditRoutes } from "./routes/audit.ts";
import { deliveryRoutes } from "./routes/deliveries.ts";
import { endpointRoutes } from "./routes/endpoints.ts";
import { fileRoutes } from "./routes/files.ts";
import { operationRoutes } from "./routes/operations.ts";
import { publishRoutes } from "./routes/publish.ts";
import { tenantDeliveryRoutes } from "./routes/tenant-deliveries.ts";
import { storageRoutes } from "./routes/storage.ts";
import type { ApiServices } from "./services.ts";

const MAX_BODY_BYTES = 1024 * 1024;
const MAX_PATH_PARAMETER = 16_384;

/** A process without the api role (`servesApi` false) shows the operator's routes alone. */
export async function makeServer(
  services: ApiServices,
  {
    basePath,
    servesApi,
    httpLimits,
    trustedProxies,
  }: { basePath: string; servesApi: boolean; httpLimits: HttpLimits; trustedProxies: readonly string[] },
): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = services.log;
  const limits = makeCallerLimits(services.rateLimits, {
    tally: services.auditTally,
    metrics: services.metrics,
  });
  const app = fastify({
    loggerInstance,
    logController: new BrokenAnswerLog({ disableRequestLogging: true }),
    bodyLimit: MAX_BODY_BYTES,
    serverFactory: (handle) => makeHttpServer(httpLimits, handle),
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    genReqId: () => randomUUID(),
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER },
    rewriteUrl: ({ url = "/" }) => decodableUrl(url),
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      void reply.header("X-Request-Id", request.id);
      void answerError(error, request, reply);
    },
  });
  // Every method that Node can parse is known, so that a wrong one is 405 and not "no such path".
  for (const method of METHODS) {
    if (method !== "CONNECT" && !app.supportedMethods.includes(method))
      app.addHttpMethod(method, { hasBody: true });
  }
  watchExchanges(app.server);
  refuseExpectations(app.server);
  acceptLenientJson(app);
  // The routes' schemas are for the document; handlers parse what they need, in the order that the contract sets.
  app.setValidatorCompiler(() => (value) => ({ value }));
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  app.setErrorHandler((error: Error, request, reply) =>
    answerError(limits.judge(error, request, reply), request, reply),
  );
  app.setNotFoundHandler(answerNotFound);
  app.addHook("onRequest", async (request, reply) => {
    void reply.header("X-Request-Id", request.id);
    if (!namesOneHost(request.raw)) {
      return reply.code(400).header("Connection", "close").send({ error: "Bad Request" });
    }
    return undefined;
  });
  // After the session checks, and before a body is read, as the handler would not be.
  app.addHook("preParsing", async (request) => {
    if (request.is404) answerNotFound();
  });
  app.addHook("onResponse", async (request, reply) => {
    services.metrics.requestDuration.observe(
      {
        http_request_method: request.method,
        http_route: request.routeOptions.url ?? "unknown",
        http_response_status_code: String(reply.statusCode),
      },
      reply.elapsedTime / 1000,
    );
  });
  await app.register(fastifySwagger, { ...openApiHead(basePath), stripBasePath: true });

  await app.register(
    async (operations) => {
      withOtherMethods(operations, () => operationRoutes(operations, services));
    },
    { prefix: basePath },
  );
  // A worker apart serves them too: it tries each link before it says that an artifact is there.
  await app.register(async (files) => fileRoutes(files, services.servedFiles), {
    prefix: `${basePath}${FILES_PATH}`,
  });
  if (!servesApi) return app;
  const logTurn = makeLogTurns(httpLimits);
  await app.register(
    async (webhooks) => {
      webhooks.addHook("onRequest", requireUser(services.sessions));
      webhooks.addHook("onRequest", (request, reply) => limits.limitRoute(request, reply));
      webhooks.setNotFoundHandler(answerNotFound);
      withOtherMethods(webhooks, () => {
        endpointRoutes(webhooks, services, logTurn);
        deliveryRoutes(webhooks, services, logTurn);
      });
    },
    { prefix: `${basePath}/api/webhooks` },
  );
  await app.register(
    async (deliveries) => {
      deliveries.addHook("onRequest", requireUser(services.sessions));
      deliveries.setNotFoundHandler(answerNotFound);
      withOtherMethods(deliveries, () => tenantDeliveryRoutes(deliveries, services, logTurn));
    },
    { prefix: `${basePath}/api/deliveries` },
  );
  await app.register(
    async (audit) => {
      audit.addHook("onRequest", requireUser(services.sessions));
      audit.setNotFoundHandler(answerNotFound);
      withOtherMethods(audit, () => auditRoutes(audit, services));
    },
    { prefix: `${basePath}/api/audit` },
  );
  await app.register(
    async (events) => {
      events.addHook("onRequest", requireService(services.sessions));
      withOtherMethods(events, () => publishRoutes(events, services));
    },
    { prefix: `${basePath}/api/events` },
  );
  await app.register(
    async (storage) => {
      storage.addHook("onRequest", requireUser(services.sessions));
      storage.addHook("onRequest", (request, reply) => limits.limitRoute(request, reply));
      withOtherMethods(storage, () => storageRoutes(storage, services));
    },
    { prefix: `${basePath}/api/storage` },
  );
  return app;
}

/** A path that is no valid percent-encoding is an ordinary path that names nothing: it passes every check before that. */
function decodableUrl(url: string): string {
  const [path = "", ...query] = url.split("?");
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll("%", "%25"), ...query].join("?");
  }
}

function answerNotFound(): never {
  throw new Refusal("not_found");
}

/** Registers routes and then, for each of their paths, an answer to the methods that it does not have. */
function withOtherMethods(app: FastifyInstance, addRoutes: () => void): void {
  const methods = new Map<string, Set<string>>();
  let isTracking = true;
  app.addHook("onRoute", (route) => {
    if (!isTracking) return;
    // The collection stands twice, with and without its slash; a route for `/` answers both.
    const path = route.url.slice(app.prefix.length).replace(/^$/, "/");
    const known = methods.get(path) ?? new Set();
    for (const method of [route.method].flat()) known.add(method);
    methods.set(path, known);
  });
  addRoutes();
  isTracking = false;
  for (const [path, known] of methods) {
    const allow = [...known].sort().join(", ");
    app.route({
      method: app.supportedMethods.filter((method) => !known.has(method)),
      url: path,
      schema: { hide: true },
      // A hook of the route's own: it comes after the session check and before a body is read.
      onRequest: async (_request, reply) => {
        void reply.header("Allow", allow);
        throw new Refusal("method_not_allowed");
      },
      handler: () => undefined,
    });
  }
}
