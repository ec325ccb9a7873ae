/** The search's hits, in their order: each once, with the page to which it leads. */
import type { UseNavigateResult } from "@tanstack/react-router";
import type { Endpoint } from "../api/client.ts";
import type { paths } from "../api/schema.d.ts";
import { MONTH_MS, reachBack } from "../deliveries/reach-back.ts";
import { nameOf } from "../endpoints/endpoint-names.ts";

type Found = paths["/api/search"]["get"]["responses"][200]["content"]["application/json"][number];
type Kind = "page" | Found["kind"];
/** `open` leads to its page. */
export type Hit = { kind: Kind; label: string; about?: string; open: (navigate: Navigate) => void };
type Navigate = UseNavigateResult<string>;
export type Group = { kind: Kind; hits: readonly Hit[] };

const KINDS: readonly Kind[] = ["page", "endpoint", "delivery", "event", "event_type"];
const MAX_DESCRIBED = 10;

type Hits = { pages: readonly Hit[]; found: readonly Found[]; described: readonly Endpoint[] };

/** `names`: of endpoints, by their ids. */
export function groupsOf({ pages, found, described }: Hits, names: ReadonlyMap<string, string>): Group[] {
  const known = new Set(found.map(({ href }) => idOf(urlOf(href))));
  const hits = [
    ...pages,
    ...found.map((one) => hitOf(one, names)),
    ...described
      .filter(({ id }) => !known.has(id))
      .map(({ id, url, description }) => endpointHit(id, nameOf(url), description)),
  ];
  return KINDS.map((kind) => ({ kind, hits: hits.filter((hit) => hit.kind === kind) })).filter(
    (group) => group.hits.length > 0,
  );
}

/** Endpoints by their description, which the service does not look at. */
export function describedAs(endpoints: readonly Endpoint[], q: string): Endpoint[] {
  const part = q.toLowerCase();
  if (part === "") return [];
  return endpoints
    .filter(({ description }) => description?.toLowerCase().includes(part))
    .slice(0, MAX_DESCRIBED);
}

function endpointHit(id: string, label: string, about: string | null): Hit {
  return {
    kind: "endpoint",
    label,
    ...(about !== null && { about }),
    open: (navigate) => void navigate({ to: "/endpoints/$endpointId", params: { endpointId: id } }),
  };
}

function urlOf(href: string): URL {
  return new URL(href, location.origin);
}

function idOf({ pathname }: URL): string {
  return decodeURIComponent(pathname.slice(pathname.lastIndexOf("/") + 1));
}

/** A hit's address in the API says where it is here. */
function hitOf({ kind, href }: Found, names: ReadonlyMap<string, string>): Hit {
  const url = urlOf(href);
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
