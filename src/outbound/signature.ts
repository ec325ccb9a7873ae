/**
 * Signing what is sent, two ways on each request.
 *
 * - `X-Service-Signature: sha256=<hex>`: HMAC-SHA-256 keyed with the whole secret
 *   string in UTF-8, over `<timestamp>.<body>`.
 * - `webhook-signature: v1,<base64>` (Standard Webhooks 1.0): keyed with the bytes
 *   that the secret's base64 stands for, over `<webhook-id>.<timestamp>.<body>`;
 *   a space-separated list, newest secret first, while a rotated secret has grace.
 *
 * Keys are made into `KeyObject`s once: an HMAC then costs a fifth of one with a raw key.
 */
import { createHmac, createSecretKey, randomBytes, type KeyObject } from "node:crypto";

const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

/** The two keys of one signing secret, ready for use; keep it as long as the secret is in use. */
export type SigningKey = { whole: KeyObject; decoded: KeyObject };

/** What is signed. The body is the exact text that is sent. */
export type SignedContent = { webhookId: string; timestampSeconds: number; body: string };

export type Signatures = { serviceSignature: string; webhookSignature: string };

/** A new signing secret: `whsec_` and the base64 of 32 random bytes. */
export function generateSigningSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** Throws an Error (without the secret in it) when the text is not a secret of this form. */
export function makeSigningKey(secret: string): SigningKey {
  if (!SECRET.test(secret)) throw new Error("A signing secret is whsec_ followed by the base64 of 32 bytes.");
  return {
    whole: createSecretKey(secret, "utf8"),
    decoded: createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), "base64")),
  };
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
