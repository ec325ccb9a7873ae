/**
 * An endpoint's static headers. The values of `authorization` and of the names
 * in `masked_headers` are kept sealed, and are `[masked]` wherever headers are
 * shown. Sent back so, a header keeps its value. No change shows a kept value:
 * a header that is no longer to be masked needs its value anew.
 */
import * as z from "zod";
import { MASK, maskedNames, maskHeaders } from "../outbound/request-headers.ts";
import type { EndpointKey } from "../shared/id.ts";
import { Refusal, type Issue } from "../shared/refusal.ts";
import type { SecretBox } from "../shared/secret-box.ts";

/** As the row has them; null where no value is sealed. */
export type StoredHeaders = {
  headers: Record<string, string>;
  maskedHeaders: string[];
  sealedHeaders: Buffer | null;
};

export const NO_HEADERS: StoredHeaders = { headers: {}, maskedHeaders: [], sealedHeaders: null };

/** Masked values by their headers' names in lower case. */
const sealedValues = z.record(z.string(), z.string());

/** The headers as they are sent. Throws SecretBoxError where the sealed values do not open. */
export function openHeaders(
  box: SecretBox,
  { headers, sealedHeaders }: Omit<StoredHeaders, "maskedHeaders">,
  owner: EndpointKey,
): Record<string, string> {
  if (sealedHeaders === null) return headers;
  const values = openValues(box, sealedHeaders, owner);
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, values.get(name.toLowerCase()) ?? value]),
  );
}

/** What is stored once the members given have changed. Refuses `[masked]` where no value is kept for it. */
export function changeHeaders(
  box: SecretBox,
  owner: EndpointKey,
  former: StoredHeaders,
  change: { headers?: Record<string, string> | undefined; masked_headers?: string[] | undefined },
): StoredHeaders {
  const maskedHeaders = change.masked_headers ?? former.maskedHeaders;
  const masked = maskedNames(maskedHeaders);
  // Opened only if a former value is kept, so replacing every value fixes headers that don't open.
  let kept: ReadonlyMap<string, string> | null = null;
  const keptValue = (key: string) => {
    kept ??= former.sealedHeaders === null ? new Map() : openValues(box, former.sealedHeaders, owner);
    return kept.get(key);
  };
  const sealed = new Map<string, string>();
  const issues: Issue[] = [];
  const headers = change.headers ?? former.headers;
  for (const [name, given] of Object.entries(headers)) {
    const key = name.toLowerCase();
    const value = given === MASK && masked.has(key) ? keptValue(key) : given;
    if (value === undefined || value === MASK) {
      issues.push({
        path: ["headers", name],
        message: "has no value that could stay: give it",
        code: "masked",
      });
    } else if (masked.has(key)) sealed.set(key, value);
  }
  if (issues.length > 0) throw new Refusal("validation_failed", { issues });
  return {
    headers: maskHeaders(headers, masked),
    maskedHeaders,
    sealedHeaders: sealed.size === 0 ? null : sealValues(box, sealed, owner),
  };
}

/** The same values under the ring's first key. */
export function resealHeaders(box: SecretBox, sealed: Buffer, owner: EndpointKey): Buffer {
  return sealValues(box, openValues(box, sealed, owner), owner);
}

function sealValues(box: SecretBox, values: ReadonlyMap<string, string>, owner: EndpointKey): Buffer {
  return box.seal(JSON.stringify(Object.fromEntries(values)), secretOwner(owner));
}

function openValues(box: SecretBox, sealed: Buffer, owner: EndpointKey): Map<string, string> {
  return new Map(Object.entries(sealedValues.parse(JSON.parse(box.open(sealed, secretOwner(owner))))));
}

function secretOwner({ tenantId, endpointId }: EndpointKey) {
  return ["static-headers", tenantId, endpointId] as const;
}
