/**
 * The headers of an attempt as the log stores them: a *set*, which many attempts
 * have in common and which is stored once for each tenant, and the *values*
 * that are this attempt's own.
 *
 * A set names each header in its order, with its value or with the form in which
 * the attempt's value is packed. Whatever does not have exactly the expected
 * form is packed as text, so what is unpacked is what was packed. Pure.
 */
import assert from "node:assert/strict";
import { LRUCache } from "lru-cache";

export type Headers = Readonly<Record<string, string>>;

/** `fixed`: the set has the value. `seconds`: when the attempt began. The others are packed. */
type Form = "fixed" | "seconds" | "hex" | "base64" | "date" | "text";
type SetHeader = readonly [name: string, form: Form, value?: string];
export type HeaderSet = {
  request: readonly SetHeader[];
  /** Null: there was no answer. Absent: the row has its headers as they are. */
  response?: readonly SetHeader[] | null;
};

export type Packed = { set: HeaderSet; values: Buffer };

const HEX_PREFIX = "sha256=";
const HEX = /^sha256=[0-9a-f]{64}$/;
const BASE64_PREFIX = "v1,";
/** Of 32 bytes, in the one spelling that decoding and encoding gives again. */
const BASE64 = /^v1,[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
const DIGEST_BYTES = 32;
const MOST_LENGTH_BYTES = 5;
/** A date is packed as seconds since the attempt began, with this added, in one byte. */
const DATE_BIAS = 64;

/** Of an answer: the same each time, as a rule. Any other header could make a set for each attempt. */
const FIXED_IN_ANSWERS: ReadonlySet<string> = new Set([
  "accept-ranges",
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
  "alt-svc",
  "cache-control",
  "connection",
  "content-encoding",
  "content-language",
  "content-security-policy",
  "content-type",
  "cross-origin-opener-policy",
  "cross-origin-resource-policy",
  "keep-alive",
  "permissions-policy",
  "pragma",
  "referrer-policy",
  "server",
  "strict-transport-security",
  "transfer-encoding",
  "vary",
  "via",
  "x-content-type-options",
  "x-dns-prefetch-control",
  "x-download-options",
  "x-frame-options",
  "x-permitted-cross-domain-policies",
  "x-powered-by",
  "x-xss-protection",
]);

function formInRequest(name: string, value: string, seconds: string | null): Form {
  if (name === "X-Service-Signature") return HEX.test(value) ? "hex" : "text";
  if (name === "webhook-signature") return BASE64.test(value) ? "base64" : "text";
  if (name === "X-Service-Timestamp") return value === seconds ? "seconds" : "text";
  // All others are the endpoint's own, or the program's.
  return name.toLowerCase() === "traceparent" ? "text" : "fixed";
}

function formInResponse(name: string, value: string, sentAt: Date | null): Form {
  if (FIXED_IN_ANSWERS.has(name)) return "fixed";
  return name === "date" && dateByte(value, sentAt) !== null ? "date" : "text";
}

function secondsOf(sentAt: Date): number {
  return Math.floor(sentAt.getTime() / 1000);
}

let lastDate = { text: "", seconds: Number.NaN };

/** The Unix time of an HTTP date; NaN of any other spelling. The same second comes many times in a row. */
function dateSeconds(text: string): number {
  if (lastDate.text !== text) {
    const parsed = new Date(text);
    const isExact = !Number.isNaN(parsed.getTime()) && parsed.toUTCString() === text;
    lastDate = { text, seconds: isExact ? parsed.getTime() / 1000 : Number.NaN };
  }
  return lastDate.seconds;
}

function dateByte(value: string, sentAt: Date | null): number | null {
  if (sentAt === null) return null;
  const byte = dateSeconds(value) - secondsOf(sentAt) + DATE_BIAS;
  return byte >= 0 && byte <= 255 ? byte : null;
}

/** Of one attempt. `response` undefined: its headers are stored as they are. */
export type GivenHeaders = { request: Headers; response: Headers | null | undefined; sentAt: Date | null };

export function packHeaders(given: GivenHeaders): Packed {
  const set = setOf(given);
  const values = packLike(set, given);
  assert.ok(values !== null, "headers have the form of their own set");
  return { set, values };
}

function setOf({ request, response, sentAt }: GivenHeaders): HeaderSet {
  const seconds = sentAt === null ? null : String(secondsOf(sentAt));
  const set: HeaderSet = { request: named(request, (name, value) => formInRequest(name, value, seconds)) };
  if (response === null) set.response = null;
  else if (response !== undefined) {
    set.response = named(response, (name, value) => formInResponse(name, value, sentAt));
  }
  return set;
}

function named(headers: Headers, formOf: (name: string, value: string) => Form): SetHeader[] {
  return Object.entries(headers).map(([name, value]) => {
    const form = formOf(name, value);
    return form === "fixed" ? [name, form, value] : [name, form];
  });
}

/** Values are written here, and copied once they are complete: one allocation instead of one for each. */
let scratch = Buffer.allocUnsafe(4096);
let written = 0;

/**
 * The values of headers, or null where they differ from the set in more than
 * values. Most attempts have the set of their endpoint's last one, and need
 * nothing but this.
 */
export function packLike(set: HeaderSet, { request, response, sentAt }: GivenHeaders): Buffer | null {
  written = 0;
  if (!writeValues(set.request, request, sentAt)) return null;
  if (response === null || response === undefined) {
    if (set.response !== response) return null;
  } else if (!set.response || !writeValues(set.response, response, sentAt)) return null;
  return Buffer.from(scratch.subarray(0, written));
}

function writeValues(own: readonly SetHeader[], headers: Headers, sentAt: Date | null): boolean {
  let place = 0;
  for (const name in headers) {
    const header = own[place++];
    const value = headers[name];
    if (header === undefined || value === undefined || header[0] !== name) return false;
    if (header[1] === "fixed" ? header[2] !== value : !writeValue(header[1], value, sentAt)) return false;
  }
  return place === own.length;
}

/** False where the value does not have this form. */
function writeValue(form: Exclude<Form, "fixed">, value: string, sentAt: Date | null): boolean {
  makeRoom(3 * value.length + MOST_LENGTH_BYTES);
  if (form === "seconds") return sentAt !== null && value === String(secondsOf(sentAt));
  if (form === "hex") {
    if (!HEX.test(value)) return false;
    written += scratch.write(value.slice(HEX_PREFIX.length), written, "hex");
  } else if (form === "base64") {
    if (!BASE64.test(value)) return false;
    written += scratch.write(value.slice(BASE64_PREFIX.length), written, "base64");
  } else if (form === "date") {
    const byte = dateByte(value, sentAt);
    if (byte === null) return false;
    scratch[written++] = byte;
  } else {
    writeLength(Buffer.byteLength(value));
    written += scratch.write(value, written);
  }
  return true;
}

function makeRoom(bytes: number): void {
  if (written + bytes <= scratch.length) return;
  const larger = Buffer.allocUnsafe(2 * (written + bytes));
  scratch.copy(larger, 0, 0, written);
  scratch = larger;
}

/** Seven bits a byte, the least first; all but the last have the highest bit. */
function writeLength(length: number): void {
  let rest = length;
  for (; rest > 127; rest >>>= 7) scratch[written++] = (rest & 127) | 128;
  scratch[written++] = rest;
}

export type Unpacked = {
  request: Record<string, string>;
  response: Record<string, string> | null | undefined;
};

export function unpackHeaders({ set, values }: Packed, sentAt: Date | null): Unpacked {
  let at = 0;
  const take = (length: number): Buffer => values.subarray(at, (at += length));
  const takeText = (): string => {
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = values[at++] ?? 0;
      length += (byte & 127) * 2 ** shift;
      if (byte < 128) return take(length).toString();
    }
  };
  const began = sentAt === null ? 0 : secondsOf(sentAt);
  const valueOf = ([, form, value = ""]: SetHeader): string => {
    switch (form) {
      case "fixed":
        return value;
      case "seconds":
        return String(began);
      case "hex":
        return HEX_PREFIX + take(DIGEST_BYTES).toString("hex");
      case "base64":
        return BASE64_PREFIX + take(DIGEST_BYTES).toString("base64");
      case "date":
        return new Date((began + (take(1)[0] ?? 0) - DATE_BIAS) * 1000).toUTCString();
      default:
        return takeText();
    }
  };
  // Unlike assignment, fromEntries makes a header named __proto__ an ordinary property.
  const unpack = (headers: readonly SetHeader[]) =>
    Object.fromEntries(headers.map((header) => [header[0], valueOf(header)]));
  const request = unpack(set.request);
  return { request, response: set.response ? unpack(set.response) : set.response };
}

/** What the log's rows have of headers; `header_set` is the set's text, null in rows that have their headers as they are. */
export type HeaderColumns = {
  request_headers: Record<string, string>;
  response_headers: Record<string, string> | null;
  header_set: string | null;
  header_values: Buffer | null;
  sent_at: Date | null;
};

const sets = new LRUCache<string, HeaderSet>({
  maxSize: 1024 * 1024,
  sizeCalculation: (_, text) => text.length,
});

/** The headers that a row has as they are, or packed. */
export function headersOf(row: HeaderColumns): Pick<HeaderColumns, "request_headers" | "response_headers"> {
  const { request_headers, response_headers, header_set: text, header_values: values, sent_at } = row;
  if (text === null || values === null) return { request_headers, response_headers };
  let set = sets.get(text);
  if (set === undefined) {
    const parsed: HeaderSet = JSON.parse(text);
    sets.set(text, (set = parsed));
  }
  const { request, response } = unpackHeaders({ set, values }, sent_at);
  return { request_headers: request, response_headers: response === undefined ? response_headers : response };
}

/** SQL of the columns `header_set` and `header_values` of a row of the log, `d`. */
export const PACKED_COLUMNS = /* sql */ `(SELECT s.headers::text FROM postern.header_sets s
      WHERE s.tenant_id = d.tenant_id AND s.id = d.header_set) AS header_set, d.header_values`;
