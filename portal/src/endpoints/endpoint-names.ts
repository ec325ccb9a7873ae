import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { endpointsQuery } from "../api/queries.ts";

/** By id. Deleted ones have none. */
export function useEndpointUrls(): ReadonlyMap<string, string> {
  const { data } = useQuery(endpointsQuery);
  return useMemo(() => new Map((data ?? []).map(({ id, url }) => [id, url])), [data]);
}

/** How lists name them, by id. */
export function useEndpointNames(): ReadonlyMap<string, string> {
  const urls = useEndpointUrls();
  return useMemo(() => new Map([...urls].map(([id, url]) => [id, nameOf(url)])), [urls]);
}

/** How an endpoint is named: several may share a host, so the whole URL but its scheme. */
export function nameOf(url: string): string {
  return url.replace(/^https:\/\//, "");
}

/** For a choice, which is cut off at its end: what tells endpoints apart comes first. */
export function choiceName(url: string): string {
  const { host, pathname, search } = new URL(url);
  const path = `${pathname}${search}`;
  return path === "/" ? host : `${path} · ${host}`;
}
