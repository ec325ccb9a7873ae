/**
 * The answer that ends with a list of deliveries. Mostly it is written at once.
 * Bodies that are too large for that were left out of the list; then it is a
 * stream of the same JSON, and reads them as fast as the client does.
 *
 * Why a half answer is never taken for a whole one: what fails before the first
 * byte is an ordinary refusal, and what fails later closes the connection before
 * the list, and the last chunk, have ended.
 */
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { ListedDelivery } from "../deliveries/delivery.ts";
import type { DeliveryLog, LogPage } from "../deliveries/log.ts";
import { idTimeMs } from "../shared/id.ts";
import { linkBefore } from "./page-query.ts";
import { deliveryView } from "./schemas.ts";

/** The headers of a list that may have looked at a part of the log alone. */
export const searchHeaders = {
  Link: 'The next page, with `rel="next"`; also after a short or an empty page of an unfinished search.',
  "Searched-To":
    "With `status=delivered` or a filter other than status and time: everything created after this time was searched. Absent if nothing older is left.",
} as const;

/** Sets the `Link` to continue a search; returns the time that it reached, or null at its end. */
export function tellSearch(url: string, reply: FastifyReply, { next }: Pick<LogPage, "next">): string | null {
  if (next === null) return null;
  void reply.header("Link", linkBefore(url, next));
  return new Date(idTimeMs(next)).toISOString();
}

/** @param rest the object's other members, which stand before the list. */
export function sendDeliveryList(
  reply: FastifyReply,
  log: Pick<DeliveryLog, "withBodies">,
  { rest = {}, name, listed }: { rest?: object; name: string; listed: readonly ListedDelivery[] },
): FastifyReply {
  if (listed.every((delivery) => delivery.omittedBodyBytes === null)) {
    return reply.send({ ...rest, [name]: listed.map(deliveryView) });
  }
  // An answer to HEAD would be read to its end, for nothing.
  const text = reply.request.method === "HEAD" ? [] : streamText(log, { rest, name, listed });
  return reply.type("application/json; charset=utf-8").send(Readable.from(text));
}

async function* streamText(
  log: Pick<DeliveryLog, "withBodies">,
  { rest, name, listed }: { rest: object; name: string; listed: readonly ListedDelivery[] },
): AsyncGenerator<string> {
  let before = JSON.stringify({ ...rest, [name]: [] }).slice(0, -"]}".length);
  for await (const delivery of log.withBodies(listed)) {
    yield before + JSON.stringify(deliveryView(delivery));
    before = ",";
  }
  yield "]}";
}
