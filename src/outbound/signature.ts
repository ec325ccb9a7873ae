/**
 * Signing what is sent, two ways on each request.
 *
 * - `X-Service-Signature: sha256=<hex>`: HMAC-SHA-256 keyed with the whole secret
 *   string in UTF-8, over `<timestamp>.<body>`.
 * - `webhook-signature: v1,<base64>` (Standard Webhooks 1.0): keyed with the bytes
 *   that the secret's base64 decodes to (a secret of a tenant's own that is no
 *   `whsec_` and base64 is the key as it is, in UTF-8), over `<webhook-id>.<timestamp>.<body>`;
 *   a space-separated list, newest secret first, while a rotated secret has grace.
 *
 * Keys are made into `KeyObject`s once: an HMAC then costs a fifth of one with a raw key.
 */
import { createHmac, createSecretKey, randomBytes, type KeyObject } from "node:crypto";

const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;
const BASE64_BYTES = { least: 24, most: 64 };
const TEXT = /^[\x20-\x7e]{16,128}$/;
/** Random ones of the least length have more; one character or a few, repeated, do not. */
const MIN_DISTINCT = 6;
/** Nearly what {@link secretFault} accepts: variety is no matter of a pattern. */
export const SECRET_PATTERN = "^(?:whsec_[A-Za-z0-9+/]{30,86}={0,2}|(?!whsec_)[\\x20-\\x7e]{16,128})$";

/** The two keys of one signing secret, ready for use; keep it as long as the secret is in use. */
export type SigningKey = { whole: KeyObject; decoded: KeyObject };

/** What is signed. The body is the exact text that is sent. */
export type SignedContent = { webhookId: string; timestampSeconds: number; body: string };

export type Signatures = { serviceSignature: string; webhookSignature: string };

/** A new signing secret: `whsec_` and the base64 of 32 random bytes. */
export function generateSigningSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** Why a text may not be a signing secret, or null when it may. */
export function secretFault(secret: string): string | null {
  const key = decodedKey(secret);
  if (key === null) {
    return secret.startsWith(SECRET_PREFIX)
      ? "must be whsec_ and the base64 of 24 to 64 bytes"
      : "must be 16 to 128 printable ASCII characters, or whsec_ and the base64 of 24 to 64 bytes";
  }
  return new Set(key).size < MIN_DISTINCT ? "is too easy to guess: make it of random bytes" : null;
}

/** Throws an Error (without the secret in it) when the text is not a secret of a known form. */
export function makeSigningKey(secret: string): SigningKey {
  const key = decodedKey(secret);
  if (key === null) throw new Error("A signing secret is of no known form.");
  return { whole: createSecretKey(secret, "utf8"), decoded: createSecretKey(key) };
}

/** The key of `webhook-signature`; null for a text that is no secret. */
function decodedKey(secret: string): Buffer | null {
  if (!secret.startsWith(SECRET_PREFIX)) return TEXT.test(secret) ? Buffer.from(secret, "utf8") : null;
  const base64 = secret.slice(SECRET_PREFIX.length);
  const key = Buffer.from(base64, "base64");
  // One spelling alone, padded: a receiver's decoder may be strict.
  if (key.toString("base64") !== base64) return null;
  return key.length < BASE64_BYTES.least || key.length > BASE64_BYTES.most ? null : key;
}

/**
 * Signs for both headers. `keys` are the live secrets, newest first;
 * `X-Service-Signature` knows one signature only and takes the newest.
 */
export function sign(keys: readonly [SigningKey, ...SigningKey[]], content: SignedContent): Signatures {
  const timed = `${content.timestampSeconds}.${content.body}`;
  const identified = `${content.webhookId}.${timed}`;
  const signatures = keys.map(
    (key) => `v1,${createHmac("sha256", key.decoded).update(identified).digest("base64")}`,
  );
  return {
    serviceSignature: `sha256=${createHmac("sha256", keys[0].whole).update(timed).digest("hex")}`,
    webhookSignature: signatures.join(" "),
  };
}
