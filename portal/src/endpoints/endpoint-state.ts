import type { Endpoint, Schemas } from "../api/client.ts";

export type EndpointStats = Schemas["GetEndpointStatsAnswer"]["endpoints"][number];

/** `failing`: its newest attempts failed. `quiet`: it had none in the time that was looked at. */
export type EndpointState = "manual" | "gone" | "disabled" | "failing" | "quiet" | "active";

export function stateOf(endpoint: Endpoint, stats: EndpointStats | undefined): EndpointState {
  if (!endpoint.enabled) {
    return endpoint.disabled_reason === "failing" ? "disabled" : (endpoint.disabled_reason ?? "manual");
  }
  if (stats === undefined || stats.delivered + stats.failed === 0) return "quiet";
  const { last_delivered_at: delivered, last_failed_at: failed } = stats;
  return failed !== null && (delivered === null || failed > delivered) ? "failing" : "active";
}

export function isDisabled(state: EndpointState): boolean {
  return state === "manual" || state === "gone" || state === "disabled";
}
