/** What several pages read. Each page has its own queries beside it. */
import { queryOptions } from "@tanstack/react-query";
import { api, bodyOf } from "./client.ts";

export const endpointsQuery = queryOptions({
  queryKey: ["endpoints"],
  queryFn: async ({ signal }) => (await bodyOf(api.GET("/api/webhooks", { signal }))).endpoints,
});

export const eventTypesQuery = queryOptions({
  queryKey: ["event-types"],
  queryFn: ({ signal }) => bodyOf(api.GET("/api/webhooks/events", { signal })),
  staleTime: 60_000,
});

/** The types alone, each once: a type may have several versions. */
export const typeNamesQuery = queryOptions({
  ...eventTypesQuery,
  select: (entries) => [...new Map(entries.map((entry) => [entry.type, entry])).values()],
});

export const endpointStatsQuery = queryOptions({
  queryKey: ["stats", "endpoints", "24h"],
  queryFn: ({ signal }) =>
    bodyOf(api.GET("/api/stats/endpoints", { signal, params: { query: { window: "24h" } } })),
});

export function endpointQuery(id: string) {
  return queryOptions({
    queryKey: ["endpoints", id],
    queryFn: ({ signal }) => bodyOf(api.GET("/api/webhooks/{id}", { signal, params: { path: { id } } })),
  });
}

export function endpointHealthQuery(id: string) {
  return queryOptions({
    queryKey: ["endpoints", id, "health"],
    queryFn: async ({ signal }) =>
      (await bodyOf(api.GET("/api/webhooks/{id}/health", { signal, params: { path: { id } } }))).health,
  });
}
