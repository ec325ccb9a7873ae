/**
 * Events of one request that have the idempotency key of an earlier one in it.
 * The relay would judge them one by one, after the producer was answered.
 */
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { NewEvent } from "../queue/queue.ts";
import type { EventId } from "../shared/id.ts";
import { parseWithDigits } from "../shared/exact-numbers.ts";
import { Refusal } from "../shared/refusal.ts";

/** By the id of each such event, the first with its key. Throws where their content differs. */
export function repeatsWithin(events: readonly NewEvent[]): ReadonlyMap<EventId, NewEvent> {
  const firsts = new Map<string, NewEvent>();
  const repeats = new Map<EventId, NewEvent>();
  for (const event of events) {
    if (event.idempotencyKey === null) continue;
    // A tenant's id has no space.
    const key = `${event.tenantId} ${event.idempotencyKey}`;
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, event);
    else if (isDeepStrictEqual(contentOf(event), contentOf(first))) repeats.set(event.id, first);
    else throw new Refusal("idempotency_key_reused");
  }
  return repeats;
}

/** Without ids and times, as the database compares it. */
function contentOf({ type, body, others }: NewEvent): unknown {
  return [
    type,
    dataOf(body),
    Object.entries(others ?? {}).map(([version, other]) => [version, dataOf(other)]),
  ];
}

const withData = z.object({ data: z.unknown() });

/** With all digits of its numbers, unless it is nested too deep for that. */
function dataOf(body: string): unknown {
  return withData.parse(parseWithDigits(body) ?? JSON.parse(body)).data;
}
