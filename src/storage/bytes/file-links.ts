/**
 * Signed links to files that the API itself serves.
 *
 * The link is the capability, without a session. The signature covers
 * the method, the place and every parameter byte by byte, in the order in which
 * they appear. So nothing can be added, moved or spelled differently. The host
 * and the path before the bucket are not signed: proxies rewrite both.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { toMs } from "../rules/instants.ts";
import type { SignedUrlEndpoint } from "../rules/signed-url.ts";
import type { SignGetRequest } from "../rules/ports.ts";

/** Where the API serves the files, below its base path. */
export const FILES_PATH = "/api/storage/files";

const PURPOSE = "postern file links 1";
const SIGNATURE = /^(.*)&X-Amz-Signature=([0-9a-f]{64})$/s;
const DATE = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;

/** What a link asks for that this service signed. */
export type FileRequest = {
  bucket: string;
  key: string;
  versionId: string;
  contentType: string;
  contentDisposition: string;
  /** From then on it is no good. */
  endsAtMs: number;
};

export type LinkSigner = {
  sign(endpoint: SignedUrlEndpoint, request: SignGetRequest): string;
  /**
   * Reads a link that was asked for with GET. Null for any that is not exactly
   * as signed. Its time is for the caller to judge, by the clock that it was made by.
   *
   * @param place bucket and key as they stand in the path; `query` what follows the question mark.
   */
  verify(link: { place: string; query: string }): FileRequest | null;
};

/** `keys`: the service's key ring; the first signs, all verify. */
export function makeLinkSigner(keys: readonly Buffer[]): LinkSigner {
  const ring = keys.map((key) => Buffer.from(hkdfSync("sha256", key, Buffer.alloc(0), PURPOSE, 32)));
  const [first] = ring;
  if (first === undefined) throw new Error("a link signer needs at least one key");
  return {
    sign({ scheme, host, path_prefix }, request) {
      const place = `${request.bucket}/${request.key}`;
      const query = queryOf(request);
      const signature = macOf(first, place, query).toString("hex");
      return `${scheme}://${host}${path_prefix}/${place}?${query}&X-Amz-Signature=${signature}`;
    },
    verify({ place, query }) {
      const [, signed, signature] = SIGNATURE.exec(query) ?? [];
      if (signed === undefined || signature === undefined) return null;
      const given = Buffer.from(signature, "hex");
      // All keys are tried, so that the time taken reveals nothing of the ring.
      const matches = ring.filter((key) => timingSafeEqual(macOf(key, place, signed), given));
      return matches.length === 0 ? null : readSigned(place, signed);
    },
  };
}

function macOf(key: Buffer, place: string, query: string): Buffer {
  return createHmac("sha256", key).update(`GET\n${place}\n${query}`).digest();
}

function queryOf(request: SignGetRequest): string {
  const pairs: [name: string, value: string][] = [
    ["X-Amz-Algorithm", "POSTERN-HMAC-SHA256"],
    ["X-Amz-Date", `${request.issued_at.slice(0, 19).replaceAll(/[-:]/g, "")}Z`],
    ["X-Amz-Expires", String(request.expires_in)],
    ["X-Amz-SignedHeaders", "host"],
    ["response-content-disposition", request.response_content_disposition],
    ["response-content-type", request.response_content_type],
    ["versionId", request.version_id],
  ];
  return pairs.map(([name, value]) => `${name}=${strictlyEncoded(value)}`).join("&");
}

/** RFC 3986: whatever is not unreserved is encoded, which encodeURIComponent does not do for all. */
function strictlyEncoded(value: string): string {
  return encodeURIComponent(value).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The signature has been checked: these are the parameters that this service wrote. */
function readSigned(place: string, query: string): FileRequest {
  const values = new URLSearchParams(query);
  const [, year, month, day, hour, minute, second] = DATE.exec(values.get("X-Amz-Date") ?? "") ?? [];
  const issuedAtMs = toMs(`${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`);
  const lifeMs = Number(values.get("X-Amz-Expires")) * 1000;
  const slash = place.indexOf("/");
  return {
    bucket: place.slice(0, slash),
    key: place.slice(slash + 1),
    versionId: values.get("versionId") ?? "",
    contentType: values.get("response-content-type") ?? "",
    contentDisposition: values.get("response-content-disposition") ?? "",
    endsAtMs: issuedAtMs + lifeMs,
  };
}
