/**
 * Packs the headers of attempts, and bounds the sets that they need.
 *
 * A receiver decides what its answers' headers are, so it must not decide how
 * many sets there are: an endpoint gets some for its answers a day, and further
 * answers' headers are stored in their rows. A set's id follows from its text,
 * so nothing here needs to agree with the database or with other processes.
 */
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { EndpointId, TenantId } from "../../shared/id.ts";
import { packHeaders, packLike, type HeaderSet } from "../packed-headers.ts";
import type { CompletedLease } from "../queue.ts";

const SETS_OF_ENDPOINT = 16;
const MOST_ENDPOINTS = 5000;
const DAY_MS = 86_400_000;
/** Of JSON in memory. A longer set is not remembered, and its id is computed each time. */
const MOST_CHARACTERS = 2 * 1024 * 1024;
/** Of an answer's part of a set. */
const MOST_OF_ANSWER = 2048;

/** `text` is what `postern.header_sets` stores. */
export type NamedSet = { tenantId: TenantId; id: string; text: string };

/** How a row stores its headers. */
export type StoredHeaders = {
  set: NamedSet | null;
  values: Buffer | null;
  /** JSON, where the set does not have them. */
  requestHeaders: string | null;
  responseHeaders: string | null;
};

type Used = { set: HeaderSet; id: string; text: string };

export class HeaderSets {
  #ids = new LRUCache<string, string>({
    maxSize: MOST_CHARACTERS,
    sizeCalculation: (_, text) => text.length,
  });
  #ofEndpoint = new LRUCache<EndpointId, Set<string>>({ max: MOST_ENDPOINTS, ttl: DAY_MS });
  /** What an endpoint's last attempt used. */
  #last = new LRUCache<EndpointId, Used>({
    maxSize: MOST_CHARACTERS,
    sizeCalculation: ({ text }) => text.length,
  });

  pack(attempt: CompletedLease): StoredHeaders {
    const { requestHeaders: request, responseHeaders: response, sentAt, dispatch } = attempt;
    const given = { request, response, sentAt };
    const last = this.#last.get(dispatch.endpointId);
    const values = last === undefined ? null : packLike(last.set, given);
    if (last !== undefined && values !== null) return stored(dispatch.tenantId, last, values);
    if (response === null && Object.keys(request).length === 0) {
      return { set: null, values: null, requestHeaders: null, responseHeaders: null };
    }
    const whole = packHeaders(given);
    const used = this.#named(whole.set);
    if (response === null || this.#mayHave(dispatch.endpointId, used.id, whole.set)) {
      this.#last.set(dispatch.endpointId, used);
      return stored(dispatch.tenantId, used, whole.values);
    }
    const part = packHeaders({ request, response: undefined, sentAt });
    const inRow = stored(dispatch.tenantId, this.#named(part.set), part.values);
    return { ...inRow, responseHeaders: JSON.stringify(response) };
  }

  #named(set: HeaderSet): Used {
    const text = JSON.stringify(set);
    return { set, id: this.#idOf(text), text };
  }

  #mayHave(endpointId: EndpointId, id: string, set: HeaderSet): boolean {
    let known = this.#ofEndpoint.get(endpointId);
    if (known?.has(id) === true) return true;
    if (JSON.stringify(set.response).length > MOST_OF_ANSWER) return false;
    if (known === undefined) this.#ofEndpoint.set(endpointId, (known = new Set()));
    if (known.size >= SETS_OF_ENDPOINT) return false;
    known.add(id);
    return true;
  }

  #idOf(text: string): string {
    let id = this.#ids.get(text);
    if (id === undefined) {
      const hex = hash("sha256", text);
      id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
        "-",
      );
      this.#ids.set(text, id);
    }
    return id;
  }
}

function stored(tenantId: TenantId, { id, text }: Used, values: Buffer): StoredHeaders {
  return { set: { tenantId, id, text }, values, requestHeaders: null, responseHeaders: null };
}

/** As they are, for a row without a set. */
export function unpacked({ requestHeaders, responseHeaders }: CompletedLease): StoredHeaders {
  return {
    set: null,
    values: null,
    requestHeaders: JSON.stringify(requestHeaders),
    responseHeaders: responseHeaders === null ? null : JSON.stringify(responseHeaders),
  };
}

/** Each set that some rows name, once. */
export function distinctSets(stored: readonly StoredHeaders[]): NamedSet[] {
  const sets = new Map<string, NamedSet>();
  for (const { set } of stored) if (set !== null) sets.set(`${set.tenantId} ${set.id}`, set);
  return [...sets.values()];
}
