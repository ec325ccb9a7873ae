/** What is kept of a receiver's answer: the beginning of its body and its headers, as storable text. */

/** Enough bytes for `MAX_BODY_CODE_POINTS` code points of UTF-8 at four bytes each, and a cut one after them. */
export const KEPT_BODY_BYTES = 4_096;
const MAX_BODY_CODE_POINTS = 1_000;
const MAX_HEADERS_LENGTH = 8 * 1_024;
const REPLACEMENT = "\ufffd";

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The first 1,000 code points; bytes that are not UTF-8, and NUL (which PostgreSQL cannot store), become U+FFFD. */
export function bodyText(chunks: readonly Buffer[]): string {
  if (chunks.length === 0) return "";
  const [first] = chunks;
  const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  const text = bytes.toString("utf8").replaceAll("\0", REPLACEMENT);
  if (text.length <= MAX_BODY_CODE_POINTS) return text;
  let end = 0;
  for (let count = 0; count < MAX_BODY_CODE_POINTS && end < text.length; count++) {
    const code = text.codePointAt(end) ?? 0;
    end += code > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

/** All that was read of an answer's body, if requested and longer than the stored beginning. */
export function longBodyOf(outcome: { kind: string; body?: string; wholeBody?: Buffer }): Buffer | null {
  const { body = "", wholeBody } = outcome;
  return wholeBody !== undefined && wholeBody.toString("utf8").length > body.length ? wholeBody : null;
}

type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Lower-case names with their values, repeated ones joined by a comma; the first
 * that fit in 8 KiB of names and values.
 */
export function recordedHeaders(received: ReceivedHeaders): Record<string, string> {
  const kept: [string, string][] = [];
  let length = 0;
  for (const name of Object.keys(received)) {
    const value = received[name];
    if (value === undefined) continue;
    const text = (Array.isArray(value) ? value.join(", ") : value).replaceAll("\0", REPLACEMENT);
    // In bytes of UTF-8, for that is how it is stored: a Latin-1 letter takes two.
    length += name.length + Buffer.byteLength(text);
    if (length > MAX_HEADERS_LENGTH) break;
    kept.push([name, text]);
  }
  // Unlike assignment, fromEntries makes a header named __proto__ an ordinary property.
  return Object.fromEntries(kept);
}
