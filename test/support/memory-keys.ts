/** The idempotency keys of the queue in memory: what each stands for. */
import { isDeepStrictEqual } from "node:util";
import type { NewEvent } from "../../src/queue/queue.ts";
import type { EventId } from "../../src/shared/id.ts";
import { parseJson } from "../../src/shared/parse-json.ts";

type Content = Pick<NewEvent, "type" | "version" | "body" | "others">;

export class MemoryKeys {
  readonly #events = new Map<string, NewEvent>();

  /** The events without a key, and those whose key was free, which is theirs from now on: the first of several has it. */
  claim(events: readonly NewEvent[]): NewEvent[] {
    return events.filter((event) => {
      const key = keyOf(event);
      if (key === null) return true;
      if (this.#events.has(key)) return false;
      this.#events.set(key, event);
      return true;
    });
  }

  /** As if they had never claimed their keys. */
  free(events: readonly NewEvent[]): void {
    for (const event of events) {
      const key = keyOf(event);
      if (key !== null) this.#events.delete(key);
    }
  }

  find(event: NewEvent): { id: EventId; sameContent: boolean } | null {
    const key = keyOf(event);
    const earlier = key === null ? undefined : this.#events.get(key);
    return earlier === undefined ? null : { id: earlier.id, sameContent: isSame(earlier, event) };
  }
}

/** No tenant's id has a space. */
function keyOf({ tenantId, idempotencyKey }: NewEvent): string | null {
  return idempotencyKey === null ? null : `${tenantId} ${idempotencyKey}`;
}

/** Type and data, in each version. */
function isSame(one: Content, other: Content): boolean {
  return one.type === other.type && isDeepStrictEqual(dataOf(one), dataOf(other));
}

function dataOf({ version, body, others }: Content): Record<string, unknown> {
  const bodies = others === null ? { 1: body } : { ...others, [version]: body };
  return Object.fromEntries(Object.entries(bodies).map(([of, text]) => [of, dataIn(text)]));
}

function dataIn(body: string): unknown {
  const parsed = parseJson(body);
  return typeof parsed === "object" && parsed !== null && "data" in parsed ? parsed.data : undefined;
}
