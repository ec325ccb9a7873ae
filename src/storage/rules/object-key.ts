/**
 * The one grammar of object keys.
 *
 *     v1/t/<tenant_id>/d/<delivery_id>/a/<attempt>/<kind>.<extension>
 *
 * It has no dot segment, no empty segment and no upper case, and no key is a
 * path prefix of another. Stores differ in what they do with such keys (a POSIX
 * gateway resolved `..` into another tenant's folder), so a key that is not
 * exactly of this form is never trusted to belong to anybody.
 */
import { Buffer } from "node:buffer";
import * as z from "zod";
import { attempt, uuid } from "./values.ts";

/** What an artifact is, with the extension and content type it is stored under. */
export const ARTIFACT_FORMATS = {
  request_body: { extension: "json", contentType: "application/json" },
  response_body: { extension: "txt", contentType: "text/plain" },
  export: { extension: "zip", contentType: "application/zip" },
} as const;

export const artifactKind = z.enum(["request_body", "response_body", "export"]);
export type ArtifactKind = z.infer<typeof artifactKind>;

export const keyParts = z.strictObject({
  tenant_id: uuid,
  delivery_id: uuid,
  attempt,
  kind: artifactKind,
});
export type KeyParts = z.infer<typeof keyParts>;

export type KeyFault =
  | "EMPTY"
  | "TOO_LONG"
  | "NOT_ASCII"
  | "BAD_CHARACTER"
  | "BAD_SEGMENT"
  | "BAD_GRAMMAR"
  | "BAD_UUID"
  | "BAD_ATTEMPT"
  | "BAD_KIND";

export type ParsedKey = { code: "OK"; parts: KeyParts } | { code: KeyFault; parts: null };

const MAX_KEY_BYTES = 1024;
const ATTEMPT_TEXT = /^[1-9][0-9]{0,2}$/;

/** Builds the key of an artifact; `parseObjectKey` gives the same parts back. */
export function buildObjectKey(parts: KeyParts): string {
  const { extension } = ARTIFACT_FORMATS[parts.kind];
  return `v1/t/${parts.tenant_id}/d/${parts.delivery_id}/a/${parts.attempt}/${parts.kind}.${extension}`;
}

/** Reads a key of any origin; the code is the first rule that it breaks. */
export function parseObjectKey(key: string): ParsedKey {
  const code = findByteFault(key);
  return code === null ? parseSegments(key.split("/")) : { code, parts: null };
}

/** The tenant named by a key, or null where the key is not of the grammar. */
export function tenantOfKey(key: string): string | null {
  return parseObjectKey(key).parts?.tenant_id ?? null;
}

/** The name a person sees: it repeats no tenant and no path of the bucket. */
export function artifactFilename(parts: Omit<KeyParts, "tenant_id">): string {
  const { extension } = ARTIFACT_FORMATS[parts.kind];
  return `${parts.kind}-${parts.delivery_id.slice(-12)}-${parts.attempt}.${extension}`;
}

function findByteFault(key: string): KeyFault | null {
  if (key === "") return "EMPTY";
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) return "TOO_LONG";
  if (/[\u0080-\uffff]/.test(key)) return "NOT_ASCII";
  if (/[^A-Za-z0-9._/-]/.test(key)) return "BAD_CHARACTER";
  return null;
}

function fault(code: KeyFault): ParsedKey {
  return { code, parts: null };
}

function parseSegments(segments: string[]): ParsedKey {
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    return fault("BAD_SEGMENT");
  }
  const [version, t, tenantId, d, deliveryId, a, attemptText, file, ...more] = segments;
  if (version !== "v1" || t !== "t" || d !== "d" || a !== "a" || file === undefined || more.length > 0) {
    return fault("BAD_GRAMMAR");
  }
  const tenant = uuid.safeParse(tenantId);
  const delivery = uuid.safeParse(deliveryId);
  if (!tenant.success || !delivery.success) return fault("BAD_UUID");
  if (attemptText === undefined || !ATTEMPT_TEXT.test(attemptText)) return fault("BAD_ATTEMPT");
  const kind = artifactKind.options.find((one) => file === `${one}.${ARTIFACT_FORMATS[one].extension}`);
  if (kind === undefined) return fault("BAD_KIND");
  const parts = { tenant_id: tenant.data, delivery_id: delivery.data, attempt: Number(attemptText), kind };
  return { code: "OK", parts };
}
