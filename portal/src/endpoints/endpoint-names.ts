import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import type { Endpoint } from "../api/client.ts";
import { endpointsQuery } from "../api/queries.ts";
import { shortened } from "../ui/shortened.ts";

/** Of an id: its end, since ids that were made together begin alike. */
const MARK_LENGTH = 6;

/** `mark`: what tells it apart from others of the same URL, if there are any. */
export type Known = { url: string; mark: string | undefined };

/** By id. Deleted ones are not among them. */
export function useKnownEndpoints(): ReadonlyMap<string, Known> {
  const { data } = useQuery(endpointsQuery);
  return useMemo(() => {
    const marks = marksOf(data ?? []);
    return new Map((data ?? []).map(({ id, url }) => [id, { url, mark: marks.get(id) }]));
  }, [data]);
}

/** How lists name them, by id. */
export function useEndpointNames(): ReadonlyMap<string, string> {
  const known = useKnownEndpoints();
  return useMemo(
    () =>
      new Map([...known].map(([id, { url, mark }]) => [id, [nameOf(url), mark].filter(Boolean).join(" · ")])),
    [known],
  );
}

/**
 * For an endpoint that is not among the known ones: `deleted`, but not while they
 * were not read, as when the service is away or asks for fewer requests.
 */
export function useUnknownName(deleted: string): (id: string) => string {
  const { data } = useQuery(endpointsQuery);
  return (id) => (data === undefined ? `… ${id.slice(-MARK_LENGTH)}` : deleted);
}

/** How a list names any endpoint: by its own name, or as `useUnknownName` says. */
export function useEndpointName(deleted: string): (id: string) => string {
  const names = useEndpointNames();
  const unknownName = useUnknownName(deleted);
  return (id) => names.get(id) ?? unknownName(id);
}

/** Reads the endpoints anew for ids that are not among them: each may have been made since. */
export function useEndpointsOf(ids: readonly string[]): void {
  const queryClient = useQueryClient();
  const { data } = useQuery(endpointsQuery);
  const asked = useRef(new Set<string>());
  useEffect(() => {
    if (data === undefined) return;
    const known = new Set(data.map(({ id }) => id));
    const unknown = ids.filter((id) => !known.has(id) && !asked.current.has(id));
    if (unknown.length === 0) return;
    for (const id of unknown) asked.current.add(id);
    void queryClient.invalidateQueries({ queryKey: endpointsQuery.queryKey, exact: true });
  }, [ids, data, queryClient]);
}

/** What tells endpoints of the same name apart, by id. Of a name of its own there is nothing. */
function marksOf(endpoints: readonly Endpoint[]): ReadonlyMap<string, string> {
  const groups = Map.groupBy(endpoints, ({ url }) => nameOf(url)).values();
  const shared = [...groups].filter(({ length }) => length > 1);
  return new Map(shared.flatMap(markTwins));
}

function markTwins(twins: readonly Endpoint[]): [id: string, mark: string][] {
  const alike = Map.groupBy(twins, ({ description }) => description ?? "");
  return [...alike].flatMap(([description, some]) =>
    some.map(({ id }): [string, string] => [
      id,
      description !== "" && some.length === 1
        ? description
        : `${description} ${id.slice(-MARK_LENGTH)}`.trim(),
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
  return shortened(url.replace(/^https:\/\//, ""));
}

/** With what differs most before the host. */
export function choiceName(url: string): string {
  const { host, pathname, search } = new URL(url);
  const path = `${pathname}${search}`;
  return path === "/" ? host : `${shortened(path)} · ${host}`;
}
