/**
 * The headers of an outbound request, and which headers a tenant may add.
 *
 * Names are written as receivers read them in the documentation; HTTP compares
 * them without case (RFC 9110 section 5.1), and so do the rules here.
 */
import { sign, type SigningKey } from "./signature.ts";

export type HeaderRule =
  | "name_syntax"
  | "name_too_long"
  | "hop_by_hop"
  | "reserved_name"
  | "value_syntax"
  | "value_too_long";

/** All that one attempt's headers are made of. */
export type HeaderInput = {
  /** Version of this program, for `User-Agent`. */
  version: string;
  eventType: string;
  /** `X-Service-Delivery`: a delivery id, or `test-<epoch milliseconds>`. */
  deliveryLabel: string;
  /** `webhook-id`: the same on each attempt of an event. */
  webhookId: string;
  timestampSeconds: number;
  /** The exact text that is sent. */
  body: string;
  /** The live secrets' keys, newest first. */
  signingKeys: readonly [SigningKey, ...SigningKey[]];
  /** The endpoint's own headers; a name that is not allowed is left out. */
  staticHeaders: Readonly<Record<string, string>>;
  /** Where the attempt is traced; a `traceparent` of the endpoint's own goes first. */
  traceparent?: string | undefined;
};

export const MAX_NAME_LENGTH = 128;
const MAX_VALUE_LENGTH = 1024;
/** Shown in place of a masked value. */
export const MASK = "[masked]";
// RFC 9110 section 5.6.2.
export const HEADER_NAME_PATTERN = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";
const TOKEN = new RegExp(HEADER_NAME_PATTERN);
// Field values (RFC 9110 section 5.5): tab, visible ASCII, space and Latin-1; no CR, LF, NUL or other control.
export const HEADER_VALUE_PATTERN = "^[\\t\\x20-\\x7e\\u00a0-\\u00ff]*$";
const FIELD_VALUE = new RegExp(HEADER_VALUE_PATTERN);

// Those of RFC 9110 section 7.6.1 and RFC 9113 section 8.2.2, and `expect`, which asks for another exchange.
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "http2-settings",
  "expect",
]);
const RESERVED: ReadonlySet<string> = new Set(["host", "user-agent", "accept-encoding"]);
const RESERVED_PREFIXES: readonly string[] = ["content-", "proxy-", "x-service-", "webhook-"];

/** Why an endpoint may not add this header, or null when it may. Any case of the name. */
export function refuseStaticHeader(name: string, value: string): HeaderRule | null {
  const nameRule = refuseName(name);
  if (nameRule !== null) return nameRule;
  if (value.length > MAX_VALUE_LENGTH) return "value_too_long";
  return FIELD_VALUE.test(value) ? null : "value_syntax";
}

function refuseName(name: string): HeaderRule | null {
  if (name.length > MAX_NAME_LENGTH) return "name_too_long";
  if (!TOKEN.test(name)) return "name_syntax";
  // A valid token that a plain object would lose or take for its prototype.
  if (name === "__proto__") return "reserved_name";
  // Receivers behind CGI or WSGI see no difference between the two characters.
  const lower = name.toLowerCase().replaceAll("_", "-");
  if (HOP_BY_HOP.has(lower)) return "hop_by_hop";
  if (RESERVED.has(lower)) return "reserved_name";
  return RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix)) ? "reserved_name" : null;
}

/** The headers of one attempt, signed. `Host`, `Connection` and `Content-Length` are the HTTP client's. */
export function buildRequestHeaders(input: HeaderInput): Record<string, string> {
  const timestamp = String(input.timestampSeconds);
  const signatures = sign(input.signingKeys, input);
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "User-Agent": `Postern/${input.version}`,
    // Nothing is ever decompressed: a few bytes could unfold to gigabytes.
    "Accept-Encoding": "identity",
    "X-Service-Signature": signatures.serviceSignature,
    "X-Service-Timestamp": timestamp,
    "X-Service-Event": input.eventType,
    "X-Service-Delivery": input.deliveryLabel,
    "webhook-id": input.webhookId,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.webhookSignature,
  };
  for (const name in input.staticHeaders) {
    const value = input.staticHeaders[name];
    // Checked again here, so that a row written by other means can never override a signature.
    if (value !== undefined && refuseStaticHeader(name, value) === null) headers[name] = value;
  }
  const { traceparent } = input;
  if (traceparent !== undefined && !hasHeader(headers, "traceparent")) headers["traceparent"] = traceparent;
  return headers;
}

function hasHeader(headers: Readonly<Record<string, string>>, lowerCase: string): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === lowerCase);
}

/** The names, in lower case, of masked headers: `authorization`, and the endpoint's own list. */
export function maskedNames(named: readonly string[]): ReadonlySet<string> {
  return new Set(["authorization", ...named.map((name) => name.toLowerCase())]);
}

/** The headers as answers and the delivery log have them. */
export function maskHeaders(
  headers: Readonly<Record<string, string>>,
  masked: ReadonlySet<string>,
): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) shown[name] = masked.has(name.toLowerCase()) ? MASK : value;
  }
  return shown;
}

/** The columns of a delivery from which an automatic attempt's other headers can be derived. */
export type HeaderSource = { trigger: string; event_type: string; id: string; event_id: string | null };

const DERIVED = new Set([
  "Content-Type",
  "Accept-Encoding",
  "X-Service-Event",
  "X-Service-Delivery",
  "webhook-id",
  "webhook-timestamp",
]);

/** An automatic attempt's headers except derivable ones, which are about half of their bytes. */
export function withoutDerived(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !DERIVED.has(name)) kept[name] = value;
  }
  return kept;
}

/** The headers that were sent, from the stored ones; none if nothing was sent. */
export function withDerived<Kept extends Readonly<Record<string, string>> | null>(
  kept: Kept,
  of: HeaderSource,
): Kept | Record<string, string> {
  const timestamp = kept?.["X-Service-Timestamp"];
  const isAutomatic = of.trigger === "event" || of.trigger === "auto_retry";
  if (!isAutomatic || of.event_id === null || timestamp === undefined) return kept;
  return {
    "Content-Type": "application/json",
    "Accept-Encoding": "identity",
    "X-Service-Event": of.event_type,
    "X-Service-Delivery": of.id,
    "webhook-id": of.event_id,
    "webhook-timestamp": timestamp,
    ...kept,
  };
}
