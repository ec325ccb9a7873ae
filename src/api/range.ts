import type { ByteRange } from "../storage/bytes/bucket.ts";

const ONE_RANGE = /^bytes=([0-9]{0,15})-([0-9]{0,15})$/;

/**
 * The part that a `Range` header asks for (RFC 9110, 14.1.2). Null means all of
 * it, also for what is no single range of bytes: a server may ignore those.
 *
 * @param size of the whole, in bytes.
 */
export function readRange(header: string | undefined, size: number): ByteRange | "unsatisfiable" | null {
  const [, first, last] = ONE_RANGE.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return null;
  if (first === "") {
    const count = Math.min(Number(last), size);
    return count === 0 ? "unsatisfiable" : { start: size - count, end: size - 1 };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return null;
  if (start >= size) return "unsatisfiable";
  return { start, end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}
