/** What the dialog lists: pages by their name, and what the service finds. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { UseNavigateResult } from "@tanstack/react-router";
import { api, bodyOf } from "../api/client.ts";
import { endpointsQuery } from "../api/queries.ts";
import type { paths } from "../api/schema.d.ts";
import { MONTH_MS, reachBack } from "../deliveries/reach-back.ts";
import { useDisplay } from "../display/display.ts";
import { nameOf, useEndpointNames } from "../endpoints/endpoint-names.ts";
import { useNavEntries } from "../shell/navigation.tsx";
import { useSettled } from "../ui/use-settled.ts";

type Found = paths["/api/search"]["get"]["responses"][200]["content"]["application/json"][number];
type Kind = "page" | Found["kind"];
/** `open` leads to its page. */
export type Hit = { kind: Kind; label: string; about?: string; open: (navigate: Navigate) => void };
type Navigate = UseNavigateResult<string>;
export type Group = { kind: Kind; hits: readonly Hit[] };

const KINDS: readonly Kind[] = ["page", "endpoint", "delivery", "event", "event_type"];
/** A person who types on asks once. */
const PAUSE_MS = 150;
const MAX_DESCRIBED = 10;

export function useHits(q: string) {
  const asked = useSettled(q.trim(), PAUSE_MS);
  const pages = usePages(q.trim());
  const names = useEndpointNames();
  const described = useDescribed(q.trim());
  const { data, error, isFetching } = useQuery({
    queryKey: ["search", asked],
    enabled: asked !== "",
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => bodyOf(api.GET("/api/search", { signal, params: { query: { q: asked } } })),
  });
  const found = asked === "" ? [] : (data ?? []).map((one) => hitOf(one, names));
  const known = new Set(
    asked === "" ? [] : (data ?? []).map(({ href }) => idOf(new URL(href, location.origin))),
  );
  const hits = [...pages, ...found, ...described.filter(({ id }) => !known.has(id)).map(({ hit }) => hit)];
  const groups = KINDS.map((kind) => ({ kind, hits: hits.filter((hit) => hit.kind === kind) })).filter(
    (group) => group.hits.length > 0,
  );
  const isBusy = isFetching || asked !== q.trim();
  return { groups, error: asked === "" ? null : error, isBusy };
}

function usePages(q: string): Hit[] {
  const { locale } = useDisplay();
  return useNavEntries().flatMap(({ to, nav }): Hit[] => {
    const { label } = nav.label[locale];
    return label.toLowerCase().includes(q.toLowerCase())
      ? [{ kind: "page", label, open: (navigate) => void navigate({ to }) }]
      : [];
  });
}

/** Endpoints by their description, which the service does not look at. */
function useDescribed(q: string): { id: string; hit: Hit }[] {
  const { data } = useQuery(endpointsQuery);
  const part = q.toLowerCase();
  if (part === "") return [];
  const found = (data ?? []).filter(({ description }) => description?.toLowerCase().includes(part));
  return found
    .slice(0, MAX_DESCRIBED)
    .map(({ id, url, description }) => ({ id, hit: endpointHit(id, nameOf(url), description) }));
}

function endpointHit(id: string, label: string, about: string | null): Hit {
  return {
    kind: "endpoint",
    label,
    ...(about !== null && { about }),
    open: (navigate) => void navigate({ to: "/endpoints/$endpointId", params: { endpointId: id } }),
  };
}

function idOf({ pathname }: URL): string {
  return decodeURIComponent(pathname.slice(pathname.lastIndexOf("/") + 1));
}

/** A hit's address in the API says where it is here. */
function hitOf({ kind, href }: Found, names: ReadonlyMap<string, string>): Hit {
  const url = new URL(href, location.origin);
  const id = idOf(url);
  const type = url.searchParams.get("type") ?? "";
  switch (kind) {
    case "endpoint":
      return endpointHit(id, names.get(id) ?? id, null);
    case "delivery":
      return {
        kind,
        label: id,
        open: (navigate) => void navigate({ to: "/log", search: { range: "30d", d: id } }),
      };
    case "event":
      return {
        kind,
        label: id,
        open: (navigate) => void navigate({ to: "/log", search: logOf(id) }),
      };
    default:
      return { kind, label: type, open: (navigate) => void navigate({ to: "/events", search: { type } }) };
  }
}

/** What became of an event, however old it is. */
function logOf(event: string) {
  const now = new Date();
  return { range: "30d" as const, ...reachBack(event, new Date(now.getTime() - MONTH_MS), now), event };
}
