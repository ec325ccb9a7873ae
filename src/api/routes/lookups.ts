/** Small questions of a portal and of people in support: who am I, what is this id, may this URL be used. */
import type { FastifyInstance, preHandlerHookHandler } from "fastify";
import * as z from "zod";
import { parseDeliveryId, parseEndpointId, parseEventId, type TenantId } from "../../shared/id.ts";
import { userOf } from "../access.ts";
import { plainText } from "../delivery-query.ts";
import { describeRoute } from "../openapi.ts";
import { parse, parseQuery } from "../parse.ts";
import type { ApiServices } from "../services.ts";
import { sessionAnswer, sessionExample, sessionView } from "../session-schemas.ts";

const MAX_HITS = 20;
const MAX_QUERY = 256;

export function sessionRoutes(app: FastifyInstance, { installation }: ApiServices): void {
  app.get(
    "/",
    {
      schema: describeRoute({
        operationId: "getSession",
        tag: "Operations",
        summary: "Show whose session this is, what it may do, and the limits that it meets",
        description:
          "What the token says as Postern reads it, the tenant's limits and what this installation offers. Needs no permission.",
        answers: { 200: sessionAnswer },
        examples: { 200: [sessionExample] },
      }),
    },
    (request, reply) => reply.send(sessionView(userOf(request), installation)),
  );
}

const searchQuery = z.strictObject({
  q: plainText(MAX_QUERY)
    .meta({ examples: ["019c1335-1b9c-7a10-8f3e-6a1d2b3c4d5e", "hooks.example.com"] })
    .describe(
      "The id of a delivery, an event or an endpoint, an idempotency key, or a part of an endpoint's URL or of an event type.",
    ),
});

const hit = z.object({
  kind: z.enum(["delivery", "event", "endpoint", "event_type"]),
  href: z.string().describe("Where it is in this API."),
});
type Hit = z.infer<typeof hit>;

const searchAnswer = z.array(hit).meta({
  examples: [[{ kind: "event", href: "/api/events/019c1335-1b9c-7a10-8f3e-6a1d2b3c4d5e" }]],
});

export function searchRoutes(
  app: FastifyInstance,
  services: ApiServices,
  { basePath, logTurn }: { basePath: string; logTurn: preHandlerHookHandler },
): void {
  app.get(
    "/",
    {
      config: { permission: "settings:read" },
      preHandler: logTurn,
      schema: describeRoute({
        operationId: "search",
        tag: "Operations",
        summary: `Find the objects of an id, a key, a part of a URL or an event type; ${MAX_HITS} hits at most`,
        description:
          "Looks among the tenant's own deliveries, events, endpoints, idempotency keys and the catalog. Each hit has its address in this API.",
        query: searchQuery,
        answers: { 200: searchAnswer },
        refusals: ["invalid_query"],
      }),
    },
    async (request) => {
      const { tenantId } = userOf(request);
      const { q } = parseQuery(searchQuery, request.query);
      const hits = [
        ...(await hitsByKey(services, tenantId, q)),
        ...(await hitsByPart(services, tenantId, q)),
      ];
      return hits.slice(0, MAX_HITS).map(({ kind, href }) => ({ kind, href: `${basePath}/api/${href}` }));
    },
  );
}

/** What one row has as its key: an event under its id or the producer's, and a delivery. */
async function hitsByKey(
  { deliveryLog, eventLog, findKey }: ApiServices,
  tenantId: TenantId,
  q: string,
): Promise<Hit[]> {
  const id = q.trim().toLowerCase();
  const keyed = await findKey(tenantId, q);
  const [deliveryId, eventId] = [parseDeliveryId(id), parseEventId(id)];
  const events = [eventId, keyed].filter((event) => event !== null);
  const found = await Promise.all(events.map((event) => eventLog.has(tenantId, event)));
  const endpointId = deliveryId === null ? null : await deliveryLog.findEndpointOf(tenantId, deliveryId);
  return [
    ...events
      .filter((_event, place) => found[place] === true)
      .map((event): Hit => ({ kind: "event", href: `events/${event}` })),
    ...(endpointId === null ? [] : [{ kind: "delivery", href: `deliveries/${deliveryId}` } satisfies Hit]),
  ];
}

/** Few to look through: a tenant's endpoints and the catalog. */
async function hitsByPart(
  { endpoints, catalog }: ApiServices,
  tenantId: TenantId,
  q: string,
): Promise<Hit[]> {
  const part = q.trim().toLowerCase();
  // Everything contains it.
  if (part === "") return [];
  const endpointId = parseEndpointId(part);
  const own = await endpoints.list(tenantId);
  const byUrl = own.filter(({ id, url }) => id === endpointId || url.toLowerCase().includes(part));
  // Of a type with several versions there are as many entries.
  const types = new Set(catalog.current().entries.map(({ type }) => type));
  const byType = [...types].filter((type) => type.toLowerCase().includes(part));
  return [
    ...byUrl.map(({ id }): Hit => ({ kind: "endpoint", href: `webhooks/${id}` })),
    ...byType.map((type): Hit => ({
      kind: "event_type",
      href: `events?type=${encodeURIComponent(type)}`,
    })),
  ];
}

const urlCheckInput = z
  .strictObject({ url: z.string() })
  .meta({ examples: [{ url: "https://hooks.example.com/postern" }] });

const urlCheckAnswer = z
  .object({
    ok: z
      .boolean()
      .describe("Whether an endpoint may have it. A name that does not resolve yet is no obstacle."),
    rule: z.string().optional().describe("Which rule it breaks, for example `not_https` or `not_public`."),
    resolves: z.boolean().optional().describe("Absent where the URL itself breaks a rule."),
  })
  .meta({ examples: [{ ok: false, rule: "not_public", resolves: true }] });

export function urlCheckRoutes(app: FastifyInstance, { guard }: ApiServices): void {
  app.post(
    "/",
    {
      config: { permission: "settings:write", limit: "dispatches" },
      schema: describeRoute({
        operationId: "checkUrl",
        tag: "Endpoints",
        summary: "Say whether an endpoint may have a URL, and which rule it breaks; nothing is sent to it",
        description:
          "Applies the rules of creating an endpoint, DNS included, and changes nothing. Counts towards the limit of tests and retries.",
        body: urlCheckInput,
        answers: { 200: urlCheckAnswer },
        refusals: ["validation_failed"],
      }),
    },
    async (request) => {
      const parsed = guard.parse(parse(urlCheckInput, request.body).url);
      if (!parsed.ok) return { ok: false, rule: parsed.rule };
      const pin = await guard.pin(parsed.url);
      if (pin.kind === "unsafe") return { ok: false, rule: pin.rule, resolves: true };
      return { ok: true, resolves: pin.kind === "pinned" };
    },
  );
}
