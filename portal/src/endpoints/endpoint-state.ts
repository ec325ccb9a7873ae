import type { Endpoint, Schemas } from "../api/client.ts";

export type EndpointStats = Schemas["GetEndpointStatsAnswer"]["endpoints"][number];

/** `failing`: its newest attempts failed. `quiet`: it had none in the time that was looked at. */
export type EndpointState = "manual" | "gone" | "disabled" | "failing" | "quiet" | "active";

/** `stats`: its own. Null where it has none because the service counts only newer endpoints. */
export function stateOf(
  endpoint: Endpoint,
  stats: EndpointStats | undefined,
  oldestCountedId: string | undefined,
): EndpointState | null {
  if (!endpoint.enabled) {
    return endpoint.disabled_reason === "failing" ? "disabled" : (endpoint.disabled_reason ?? "manual");
  }
  if (stats === undefined && oldestCountedId !== undefined && endpoint.id < oldestCountedId) return null;
  if (stats === undefined || stats.delivered + stats.failed === 0) return "quiet";
  const { last_delivered_at: delivered, last_failed_at: failed } = stats;
  return failed !== null && (delivered === null || failed > delivered) ? "failing" : "active";
}

/** The service answers with the newest endpoint first. */
export function oldestOf(counted: readonly EndpointStats[]): string | undefined {
  return counted.at(-1)?.endpoint_id;
}

export function isDisabled(state: EndpointState | null): boolean {
  return state === "manual" || state === "gone" || state === "disabled";
}
