import type { Endpoint, Schemas } from "../api/client.ts";

export type EndpointStats = Schemas["GetEndpointStatsAnswer"]["endpoints"][number];

/** `failing`: its newest attempts failed. `quiet`: it had none in the time that was looked at. */
export type EndpointState = "manual" | "gone" | "disabled" | "failing" | "quiet" | "active";

/** `counted`: all that the service counts, the newest endpoint first. Null where it counts only newer ones. */
export function stateOf(endpoint: Endpoint, counted: readonly EndpointStats[]): EndpointState | null {
  if (!endpoint.enabled) {
    return endpoint.disabled_reason === "failing" ? "disabled" : (endpoint.disabled_reason ?? "manual");
  }
  const oldest = counted.at(-1);
  if (oldest !== undefined && endpoint.id < oldest.endpoint_id) return null;
  const stats = counted.find((one) => one.endpoint_id === endpoint.id);
  if (stats === undefined || stats.delivered + stats.failed === 0) return "quiet";
  const { last_delivered_at: delivered, last_failed_at: failed } = stats;
  return failed !== null && (delivered === null || failed > delivered) ? "failing" : "active";
}

export function isDisabled(state: EndpointState | null): boolean {
  return state === "manual" || state === "gone" || state === "disabled";
}
