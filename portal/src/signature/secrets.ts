/** A signing secret as it was pasted, and what may be wrong with it. */

export type SecretFault =
  | "secretSpace"
  | "secretQuoted"
  | "secretPrefixLost"
  | "secretUrlBase64"
  | "secretPadding"
  | "secretNotBase64"
  | "secretLength"
  | "secretText"
  | "secretSignature";

/** The keys of both signatures: of `X-Service-Signature`, then of `webhook-signature`. */
export type Keys = { whole: Uint8Array<ArrayBuffer>; decoded: Uint8Array<ArrayBuffer> };

/** `keys`: null for a text that can be no secret. `mended`: what it may have been before the fault. */
export type Secret = { keys: Keys | null; faults: SecretFault[]; mended: Keys[] };

const PREFIX = "whsec_";
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const TEXT = /^[\x20-\x7e]{16,128}$/;
const BYTES = { least: 24, most: 64 };

export function readSecret(given: string): Secret {
  const faults: SecretFault[] = [];
  let text = given;
  if (text !== text.trim()) faults.push("secretSpace");
  text = text.trim();
  const [, , inner] = /^(["'`])(.*)\1$/s.exec(text) ?? [];
  if (inner !== undefined) {
    faults.push("secretQuoted");
    text = inner;
  }
  const isStandard = text.startsWith(PREFIX);
  const fault = isStandard ? standardFault(text.slice(PREFIX.length)) : textFault(text);
  if (fault !== null) faults.push(fault);
  const keys = keysOf(given);
  const mended = guessesOf(text).flatMap((guess) => keysOf(guess) ?? []);
  return { keys, faults, mended };
}

function standardFault(encoded: string): SecretFault | null {
  if (/[-_]/.test(encoded) && BASE64.test(standardBase64(encoded))) return "secretUrlBase64";
  const bytes = bytesOf(encoded);
  if (bytes === null) return BASE64.test(encoded) ? "secretPadding" : "secretNotBase64";
  return isLength(bytes) ? null : "secretLength";
}

function textFault(text: string): SecretFault | null {
  if (/^(?:v1,|sha256=)/.test(text)) return "secretSignature";
  const bytes = bytesOf(text);
  // 32 random bytes: what is made here has this length, an own secret hardly ever.
  if (bytes?.length === 32) return "secretPrefixLost";
  return TEXT.test(text) ? null : "secretText";
}

function guessesOf(text: string): string[] {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
  return [text, `${PREFIX}${encoded}`, `${PREFIX}${standardBase64(encoded)}`];
}

function standardBase64(text: string): string {
  const bare = text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, "=");
}

function keysOf(text: string): Keys | null {
  const whole = new TextEncoder().encode(text);
  if (!text.startsWith(PREFIX)) return TEXT.test(text) ? { whole, decoded: whole } : null;
  const decoded = bytesOf(text.slice(PREFIX.length));
  return decoded !== null && isLength(decoded) ? { whole, decoded } : null;
}

function isLength(bytes: Uint8Array): boolean {
  return bytes.length >= BYTES.least && bytes.length <= BYTES.most;
}

/** The bytes of base64 in its one spelling, padded; null for any other text. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  if (!BASE64.test(base64) || base64.length % 4 !== 0) return null;
  const binary = atob(base64);
  return btoa(binary) === base64 ? Uint8Array.from(binary, (one) => one.charCodeAt(0)) : null;
}
