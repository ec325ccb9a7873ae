/** The endpoints of the list: their states, and which of them are looked for. */
import type { Endpoint } from "../../api/client.ts";
import {
  isDisabled,
  oldestOf,
  stateOf,
  type EndpointState,
  type EndpointStats,
} from "../../endpoints/endpoint-state.ts";

/** `state`: null where it is not known. */
export type Listed = { endpoint: Endpoint; stats: EndpointStats | undefined; state: EndpointState | null };

export type StateFilter = "all" | "enabled" | "failing" | "disabled";

export function isIn({ state }: Listed, wanted: StateFilter): boolean {
  if (wanted === "all") return true;
  if (wanted === "failing") return state === "failing";
  return isDisabled(state) === (wanted === "disabled");
}

export function isFound({ endpoint }: Listed, q: string): boolean {
  const part = q.trim().toLowerCase();
  const { id, url, description, events } = endpoint;
  return [id, url, description ?? "", ...events].some((text) => text.toLowerCase().includes(part));
}

export function withStats(endpoints: readonly Endpoint[], stats: readonly EndpointStats[]): Listed[] {
  const byId = new Map(stats.map((one) => [one.endpoint_id, one]));
  const oldest = oldestOf(stats);
  return endpoints.map((endpoint) => {
    const own = byId.get(endpoint.id);
    return { endpoint, stats: own, state: stateOf(endpoint, own, oldest) };
  });
}

/** Of its newest attempts, that which came last. */
export function newest(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
}
