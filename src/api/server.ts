/** The HTTP edge: routes under the base path, behind their session checks, with one answer to every error. */
import { randomUUID } from "node:crypto";
import { fastifySwagger } from "@fastify/swagger";
import { fastify, type FastifyBaseLogger, type FastifyInstance } from "fastify";
import { makeCallerLimits, type CallerLimits } from "./caller-limits.ts";
import { answerClientError, watchExchanges } from "./client-errors.ts";
import { refuseUnknownDryRun } from "./dry-run.ts";
import { answerError, BrokenAnswerLog } from "./error-answers.ts";
import { KnownPaths } from "./known-paths.ts";
import { makeHttpServer, namesOneHost, refuseExpectations, type HttpLimits } from "./http-limits.ts";
import { makeLogTurns } from "./log-turns.ts";
import { answerNotFound, mountApiRoutes, mountOperatorRoutes } from "./mount-routes.ts";
import { documentOptions } from "./openapi.ts";
import { makeOutageLog } from "./outage-log.ts";
import { METHODS } from "./node-http.ts";
import { acceptLenientJson } from "./parse.ts";
import { countRefusedCall } from "./refused-calls.ts";
import type { ApiServices } from "./services.ts";
import { Refusal } from "../shared/refusal.ts";

const MAX_BODY_BYTES = 1024 * 1024;
/** What an operator's probes ask for. */
const OPERATOR_PATH = /^\/(?:health|ready|metrics)(?:\?|$)/;
const MAX_PATH_PARAMETER = 16_384;
/** Another process of the installation answers at once, or this one once it is started again. */
const CLOSING_RETRY_AFTER_S = 1;

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
    // Each line of a request names its id itself. A logger for each request would be made for nothing in most.
    childLoggerFactory: (logger) => logger,
    logController: new BrokenAnswerLog({ disableRequestLogging: true }),
    bodyLimit: MAX_BODY_BYTES,
    serverFactory: (handle) =>
      makeHttpServer(httpLimits, {
        handle,
        trustedProxies,
        isOperational: (url) => OPERATOR_PATH.test(url.slice(basePath.length)) && url.startsWith(basePath),
        closed: (why) => services.metrics.connectionsClosed.inc({ why }),
      }),
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    genReqId: () => randomUUID(),
    forceCloseConnections: "idle",
    // Its answer is not as ours are: see `addHooks`.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER },
    rewriteUrl: ({ url = "/" }) => decodableUrl(url),
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      void reply.header("X-Request-Id", request.id);
      void answerError(error, request, reply);
    },
  });
  knowEveryMethod(app);
  watchExchanges(app.server);
  refuseExpectations(app.server);
  acceptLenientJson(app);
  // The routes' schemas are for the document; handlers parse what they need, in the order that the contract sets.
  app.setValidatorCompiler(() => (value) => ({ value }));
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  answerErrors(app, services, limits);
  app.setNotFoundHandler(answerNotFound);
  const paths = new KnownPaths({ maxParamLength: MAX_PATH_PARAMETER });
  addHooks(app, services, paths);
  await app.register(fastifySwagger, documentOptions(basePath));

  await mountOperatorRoutes(app, services, { basePath, paths });
  const logTurn = makeLogTurns(httpLimits);
  if (servesApi) await mountApiRoutes(app, services, { basePath, paths, limits, httpLimits, logTurn });
  return app;
}

function answerErrors(
  app: FastifyInstance,
  { auditTally }: Pick<ApiServices, "auditTally">,
  limits: Pick<CallerLimits, "judge">,
): void {
  const tellOutage = makeOutageLog(app.log);
  app.setErrorHandler((error: Error, request, reply) => {
    // The client went away before all of its body was here. That is no outage, and the answer reaches nobody.
    if (request.raw.errored === error) return reply.code(400).send({ error: "Bad Request" });
    countRefusedCall(error, request, auditTally);
    tellOutage(error);
    return answerError(limits.judge(error, request, reply), request, reply);
  });
}

/** Every method that Node can parse is known, so that a signed link refuses it as any other. */
function knowEveryMethod(app: FastifyInstance): void {
  for (const method of METHODS) {
    if (method !== "CONNECT" && !app.supportedMethods.includes(method))
      app.addHttpMethod(method, { hasBody: true });
  }
}

function addHooks(app: FastifyInstance, services: Pick<ApiServices, "metrics">, paths: KnownPaths): void {
  let isClosing = false;
  app.addHook("preClose", async () => void (isClosing = true));
  app.addHook("onRequest", async (request, reply) => {
    void reply.header("X-Request-Id", request.id);
    // On a connection whose request before is still being answered.
    if (isClosing) throw new Refusal("unavailable", { retryAfterS: CLOSING_RETRY_AFTER_S });
    if (!namesOneHost(request.raw)) {
      return reply.code(400).header("Connection", "close").send({ error: "Bad Request" });
    }
    return undefined;
  });
  // After the session checks, and before a body is read, as the handler would not be.
  app.addHook("preParsing", async (request, reply) => {
    if (request.is404) paths.refuse(request.url, reply);
  });
  app.addHook("preHandler", refuseUnknownDryRun);
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
}

/** A path that is no valid percent-encoding is an ordinary path that names nothing: it passes every check before that. */
function decodableUrl(url: string): string {
  if (!url.includes("%")) return url;
  const [path = "", ...query] = url.split("?");
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll("%", "%25"), ...query].join("?");
  }
}
