import type { FastifyInstance, preHandlerHookHandler } from "fastify";
import * as z from "zod";
import { parseReplayId } from "../../shared/id.ts";
import { callerOf, userOf } from "../access.ts";
import { replayCountExample, replayExample, replayInputExample } from "../examples.ts";
import { describeRoute } from "../openapi.ts";
import { firstPage } from "../../shared/first-page.ts";
import { linkBefore, NEXT_PAGE } from "../page-query.ts";
import { parse, parseQuery } from "../parse.ts";
import {
  replayCountObject,
  replayCountView,
  replayInput,
  replayObject,
  replayRequest,
  replaysQuery,
  replayView,
} from "../replay-schemas.ts";
import type { ApiServices } from "../services.ts";

type IdParams = { Params: { replay_id: string } };

const replayAnswer = z.object({ replay: replayObject });

/** Sending events to an endpoint again, many at once. */
export function replayRoutes(
  app: FastifyInstance,
  { replays }: ApiServices,
  logTurn: preHandlerHookHandler,
): void {
  const read = { permission: "settings:read" } as const;
  const write = { permission: "settings:write", limit: "dispatches" } as const;

  app.post(
    "/",
    {
      config: { ...write, dryRun: "body" },
      preHandler: logTurn,
      schema: describeRoute({
        operationId: "createReplay",
        tag: "Replays",
        summary: "Send an endpoint its failed or missed events again; or only count them",
        description:
          "A worker gives the events to the endpoint's queue, oldest first and behind what is fresh; one attempt each " +
          "is made, with the trigger `retry`. One replay an endpoint and five a tenant run at a time. The event " +
          "`replay.finished` announces its end.",
        body: replayInput,
        answers: { 200: replayCountObject, 202: replayAnswer },
        examples: { body: [replayInputExample], 200: [replayCountExample], 202: [{ replay: replayExample }] },
        refusals: [
          "invalid_query",
          "validation_failed",
          "endpoint_not_found",
          "endpoint_disabled",
          "replay_running",
          "replay_limit_reached",
          "secret_unusable",
        ],
      }),
    },
    async (request, reply) => {
      const input = parse(replayInput, request.body);
      const asked = replayRequest(input);
      if (input.dry_run === true)
        return replayCountView(await replays.count(userOf(request).tenantId, asked));
      return reply.code(202).send({ replay: replayView(await replays.request(callerOf(request), asked)) });
    },
  );

  app.get(
    "/",
    {
      config: read,
      schema: describeRoute({
        operationId: "listReplays",
        tag: "Replays",
        summary: "List replays, newest first",
        description: "With their progress, finished and canceled ones included.",
        query: replaysQuery,
        answers: { 200: z.object({ replays: z.array(replayObject) }) },
        examples: { 200: [{ replays: [replayExample] }] },
        headers: { Link: NEXT_PAGE },
        refusals: ["invalid_query"],
      }),
    },
    async (request, reply) => {
      const { tenantId } = userOf(request);
      const {
        endpoint_id: endpointId = null,
        before = null,
        limit,
      } = parseQuery(replaysQuery, request.query);
      const read = await replays.list(tenantId, { endpointId, before, limit: limit + 1 });
      const { rows, last } = firstPage(read, limit);
      if (last !== undefined) void reply.header("Link", linkBefore(request.url, last.id));
      return { replays: rows.map(replayView) };
    },
  );

  app.get<IdParams>(
    "/:replay_id",
    {
      config: read,
      schema: describeRoute({
        operationId: "getReplay",
        tag: "Replays",
        summary: "Show how far a replay is",
        description:
          "`sent` of `total` events are with the endpoint's queue; `delivered` and `failed` count the attempts that were made.",
        params: ["replay_id"],
        answers: { 200: replayAnswer },
        examples: { 200: [{ replay: replayExample }] },
        refusals: ["not_found"],
      }),
    },
    async (request) => {
      const { tenantId } = userOf(request);
      return { replay: replayView(await replays.get(tenantId, parseReplayId(request.params.replay_id))) };
    },
  );

  app.post<IdParams>(
    "/:replay_id/cancel",
    {
      config: write,
      schema: describeRoute({
        operationId: "cancelReplay",
        tag: "Replays",
        summary: "Cancel a running replay; attempts that a worker has taken are still made",
        description:
          "Events that were not sent yet stay as they are. Refused with 409 for a replay that has ended.",
        params: ["replay_id"],
        answers: { 200: replayAnswer },
        examples: { 200: [{ replay: { ...replayExample, status: "canceled" } }] },
        refusals: ["not_found", "replay_not_running", "payload_too_large"],
      }),
    },
    async (request) => {
      const id = parseReplayId(request.params.replay_id);
      return { replay: replayView(await replays.cancel(callerOf(request), id)) };
    },
  );
}
