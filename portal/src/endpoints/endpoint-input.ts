/** What a person fills in of an endpoint, and the request that it makes. */
import type { components } from "../api/schema.d.ts";

type Endpoint = components["schemas"]["Endpoint"];

export type PairInput = { key: number; name: string; value: string; isSecret: boolean };

export type EndpointInput = {
  url: string;
  description: string;
  events: string[];
  mode: Endpoint["mode"];
  rate: string;
  headers: PairInput[];
  metadata: PairInput[];
};

const EMPTY: EndpointInput = {
  url: "",
  description: "",
  events: [],
  mode: "push",
  rate: "",
  headers: [],
  metadata: [],
};

const AUTHORIZATION = "authorization";

export function inputOf(endpoint: Endpoint | null): EndpointInput {
  if (endpoint === null) return EMPTY;
  const { url, description, events, mode, rate_limit: rate, headers, metadata } = endpoint;
  const masked = new Set(endpoint.masked_headers.map((name) => name.toLowerCase()));
  return {
    url,
    description: description ?? "",
    events,
    mode,
    rate: rate === null ? "" : String(rate),
    headers: pairsOf(headers, (name) => masked.has(name.toLowerCase())),
    metadata: pairsOf(metadata, () => false),
  };
}

/** What the form shows, and what it began with. */
export type Draft = { first: EndpointInput; input: EndpointInput };

/** A draft that was kept, if it is one, also of before an upgrade. */
export function draftOf(kept: unknown): Draft | null {
  const { first, input }: Record<string, unknown> = { ...Object(kept) };
  return isInput(first) && isInput(input) ? { first, input } : null;
}

function isInput(value: unknown): value is EndpointInput {
  const given: Record<string, unknown> = { ...Object(value) };
  return Object.entries(EMPTY).every(
    ([name, one]) => typeof given[name] === typeof one && Array.isArray(given[name]) === Array.isArray(one),
  );
}

/** A draft to keep: without the secrets that were typed. Null where nothing was changed. */
export function keptOf({ first, input }: Draft): Draft | null {
  const headers = input.headers.flatMap((header) => {
    if (!header.isSecret && !isAlwaysSecret(header)) return [header];
    const before = first.headers.find(({ key }) => key === header.key);
    return before === undefined ? [] : [{ ...header, value: before.value }];
  });
  const kept = { first, input: { ...input, headers } };
  return Object.keys(changesOf(first, kept.input, first)).length === 0 ? null : kept;
}

function pairsOf(named: Readonly<Record<string, string>>, isSecret: (name: string) => boolean): PairInput[] {
  return Object.entries(named).map(([name, value], key) => ({ key, name, value, isSecret: isSecret(name) }));
}

/** Whether more is set than most endpoints need. */
export function hasMore({ mode, rate, headers, metadata }: EndpointInput): boolean {
  return mode !== "push" || rate !== "" || headers.length > 0 || metadata.length > 0;
}

export function isAlwaysSecret({ name }: PairInput): boolean {
  return name.trim().toLowerCase() === AUTHORIZATION;
}

/** One that the request would lose: a value without a name, or a name that was given above. */
export function lostPair(pairs: readonly PairInput[]): PairInput | undefined {
  return pairs.find(({ name, value }, at) =>
    name.trim() === "" ? value !== "" : pairs.slice(0, at).some((other) => other.name.trim() === name.trim()),
  );
}

export function isRate(rate: string): boolean {
  return rate.trim() === "" || /^[1-9][0-9]{0,8}$/.test(rate.trim());
}

type EndpointRequest = components["schemas"]["CreateEndpointRequest"];

/**
 * What differs from what the form began with: sent alone, it leaves what another
 * person changed meanwhile, and names no event type that has left the catalog. Of
 * a list or of named values only the items that differ are changed in `current`.
 */
export function changesOf(
  first: EndpointInput,
  input: EndpointInput,
  current: EndpointInput,
): Partial<EndpointRequest> {
  const { events, headers, metadata } = current;
  const former: Record<string, unknown> = requestOf({ ...first, events, headers, metadata });
  const wanted = requestOf({
    ...input,
    events: merged([first.events, input.events, events], (event) => event),
    headers: merged([first.headers, input.headers, headers], nameOf),
    metadata: merged([first.metadata, input.metadata, metadata], nameOf),
  });
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => !isSame(value, former[name])));
}

/** An item that differs is changed whole: a header that another person removed comes back as secret as it was. */
function merged<Item>(
  [first, input, now]: readonly [readonly Item[], readonly Item[], readonly Item[]],
  nameIn: (item: Item) => string,
): Item[] {
  const find = (items: readonly Item[], item: Item) => items.find((one) => nameIn(one) === nameIn(item));
  const changed = input.filter((item) => JSON.stringify(find(first, item)) !== JSON.stringify(item));
  const kept = now.filter((item) => find(input, item) !== undefined || find(first, item) === undefined);
  return [
    ...kept.map((item) => find(changed, item) ?? item),
    ...changed.filter((item) => find(kept, item) === undefined),
  ];
}

function nameOf({ name }: PairInput): string {
  return name.trim();
}

/** Lists are sets here: what was unchecked and checked again is unchanged. */
function isSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return JSON.stringify(one) === JSON.stringify(other);
  const left = new Set<unknown>(one);
  return one.length === other.length && other.every((each) => left.has(each));
}

/** All members, for the request that creates. */
export function requestOf(input: EndpointInput): EndpointRequest {
  const headers = input.headers.filter(({ name }) => name.trim() !== "");
  return {
    url: input.url.trim(),
    description: input.description.trim() === "" ? null : input.description.trim(),
    events: input.events,
    mode: input.mode,
    rate_limit: input.rate.trim() === "" ? null : Number(input.rate),
    headers: Object.fromEntries(headers.map(({ name, value }) => [name.trim(), value])),
    masked_headers: headers
      .filter((header) => header.isSecret && !isAlwaysSecret(header))
      .map(({ name }) => name.trim().toLowerCase()),
    metadata: Object.fromEntries(
      input.metadata.filter(({ name }) => name.trim() !== "").map(({ name, value }) => [name.trim(), value]),
    ),
  };
}
