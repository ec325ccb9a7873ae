/** What a person fills in of an endpoint, and the request that it makes. */
import type { Endpoint, Schemas } from "../api/client.ts";

export type HeaderInput = { key: number; name: string; value: string; isSecret: boolean };

export type EndpointInput = {
  url: string;
  description: string;
  events: string[];
  rate: string;
  headers: HeaderInput[];
};

const AUTHORIZATION = "authorization";

export function inputOf(endpoint: Endpoint | null): EndpointInput {
  if (endpoint === null) return { url: "", description: "", events: [], rate: "", headers: [] };
  const { url, description, events, rate_limit: rate, headers, masked_headers: masked } = endpoint;
  return {
    url,
    description: description ?? "",
    events,
    rate: rate === null ? "" : String(rate),
    headers: Object.entries(headers).map(([name, value], key) => ({
      key,
      name,
      value,
      isSecret: masked.includes(name.toLowerCase()),
    })),
  };
}

export function isAlwaysSecret({ name }: HeaderInput): boolean {
  return name.trim().toLowerCase() === AUTHORIZATION;
}

export function isRate(rate: string): boolean {
  return rate.trim() === "" || /^[1-9][0-9]{0,8}$/.test(rate.trim());
}

/** The members of both requests, that which creates and that which changes. */
export function requestOf(input: EndpointInput): Schemas["CreateEndpointRequest"] {
  const headers = input.headers.filter(({ name }) => name.trim() !== "");
  return {
    url: input.url.trim(),
    description: input.description.trim() === "" ? null : input.description.trim(),
    events: input.events,
    rate_limit: input.rate.trim() === "" ? null : Number(input.rate),
    headers: Object.fromEntries(headers.map(({ name, value }) => [name.trim(), value])),
    masked_headers: headers
      .filter((header) => header.isSecret && !isAlwaysSecret(header))
      .map(({ name }) => name.trim().toLowerCase()),
  };
}
