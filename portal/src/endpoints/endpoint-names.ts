import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Endpoint } from "../api/client.ts";
import { endpointsQuery } from "../api/queries.ts";

/** By id. Deleted ones have none. */
export function useEndpointUrls(): ReadonlyMap<string, string> {
  const { data } = useQuery(endpointsQuery);
  return useMemo(() => new Map((data ?? []).map(({ id, url }) => [id, url])), [data]);
}

/** How lists name them, by id. */
export function useEndpointNames(): ReadonlyMap<string, string> {
  const { data } = useQuery(endpointsQuery);
  return useMemo(() => {
    const marks = marksOf(data ?? []);
    return new Map(
      (data ?? []).map(({ id, url }) => [id, [nameOf(url), marks.get(id)].filter(Boolean).join(" · ")]),
    );
  }, [data]);
}

/** What tells endpoints of the same URL apart, by id. Of a URL of its own there is nothing. */
function marksOf(endpoints: readonly Endpoint[]): ReadonlyMap<string, string> {
  const shared = [...Map.groupBy(endpoints, ({ url }) => url).values()].filter(({ length }) => length > 1);
  return new Map(shared.flatMap(markTwins));
}

function markTwins(twins: readonly Endpoint[]): [id: string, mark: string][] {
  const alike = Map.groupBy(twins, ({ description }) => description ?? "");
  return [...alike].flatMap(([description, some]) =>
    some.map(({ id }): [string, string] => [
      id,
      description !== "" && some.length === 1 ? description : `${description} ${id.slice(-6)}`.trim(),
    ]),
  );
}

/** For a choice, which is cut off at its end: what tells endpoints apart comes first. */
export function choicesOf(endpoints: readonly Endpoint[]): { id: string; name: string }[] {
  const marks = marksOf(endpoints);
  return endpoints.map(({ id, url }) => ({
    id,
    name: [marks.get(id), choiceName(url)].filter(Boolean).join(" · "),
  }));
}

/** How an endpoint is named: several may share a host, so the whole URL but its scheme. */
export function nameOf(url: string): string {
  return url.replace(/^https:\/\//, "");
}

/** With what differs most before the host. */
export function choiceName(url: string): string {
  const { host, pathname, search } = new URL(url);
  const path = `${pathname}${search}`;
  return path === "/" ? host : `${path} · ${host}`;
}
