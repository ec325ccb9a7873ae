/**
 * Whether a signed link is the one that was asked for.
 *
 * Read without a URL parser: parsers normalise, and a link that only looks right
 * after normalising is not the link that was checked. Everything after `?` must
 * be strictly encoded pairs, so neither a fragment nor a stray separator can
 * hide a parameter from the store.
 */
import * as z from "zod";
import type { SignGetRequest } from "./ports.ts";

const HOST = /^(?:\[::1\]|[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?::[0-9]{1,5})?$/;
const PATH_PREFIX = /^(?:\/[A-Za-z0-9][A-Za-z0-9._~-]{0,63}){0,8}$/;
const QUERY_PAIR = /^[A-Za-z0-9-]+=(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})*$/;
const LOOPBACK = /^(?:localhost|\[::1\]|127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3})$/;

/** Where signed links point: host with its port, and the path before the bucket. */
export const signedUrlEndpoint = z.strictObject({
  scheme: z.enum(["http", "https"]),
  host: z.string().regex(HOST),
  path_prefix: z.string().regex(PATH_PREFIX),
});
export type SignedUrlEndpoint = z.infer<typeof signedUrlEndpoint>;

/** Whether the link is for this host, object and version, with this date and lifetime. */
export function isTrustedSignedUrl(
  url: string,
  endpoint: SignedUrlEndpoint,
  request: SignGetRequest,
): boolean {
  const { scheme, host, path_prefix } = endpoint;
  if (scheme === "http" && !isLoopback(host)) return false;
  const start = `${scheme}://${host}${path_prefix}/${request.bucket}/${request.key}?`;
  if (!url.startsWith(start)) return false;
  const pairs = url.slice(start.length).split("&");
  if (!pairs.every((pair) => QUERY_PAIR.test(pair))) return false;
  return requiredPairs(request).every(([name, value]) => {
    const given = pairs.filter((pair) => pair.startsWith(`${name}=`));
    return given.length === 1 && given[0] === `${name}=${value}`;
  });
}

function isLoopback(host: string): boolean {
  return LOOPBACK.test(host.replace(/:[0-9]{1,5}$/, ""));
}

function requiredPairs(request: SignGetRequest): [name: string, value: string][] {
  // 2026-03-01T12:00:00.000Z becomes 20260301T120000Z.
  const compactDate = `${request.issued_at.slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
  return [
    ["X-Amz-Date", compactDate],
    ["X-Amz-Expires", String(request.expires_in)],
    ["X-Amz-SignedHeaders", "host"],
    ["versionId", request.version_id],
  ];
}
