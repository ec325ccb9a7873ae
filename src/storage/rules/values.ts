/**
 * The scalar values that storage speaks in, each as a strict parser.
 *
 * A parser here admits exactly one spelling of a value: upper-case UUIDs, a
 * boolean where an integer belongs, or a date that no calendar has are refused
 * at the edge, so that code inside may compare strings with `===`.
 */
import { Buffer } from "node:buffer";
import * as z from "zod";

const MAX_SAFE = Number.MAX_SAFE_INTEGER;

/** The largest object an S3-style store takes in one PUT: 5 GiB. */
export const MAX_OBJECT_BYTES = 5_368_709_120;

/** Text of `min` to `max` Unicode code points without lone surrogates. */
export function text(min: number, max: number) {
  return z.string().refine(
    (value) => {
      // Cheap bounds first: counting code points walks the whole string.
      if (value.length < min || value.length > 2 * max || !value.isWellFormed()) return false;
      const points = Array.from(value).length;
      return points >= min && points <= max;
    },
    { error: `must be ${min} to ${max} characters of well-formed text` },
  );
}

/** An integer in a closed range; booleans, fractions and unsafe integers are refused. */
export function integer(min: number, max: number = MAX_SAFE) {
  return z.int().min(min).max(max);
}

/** Lower-case canonical UUID of RFC 9562, nil and max excluded. */
export const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);

/** `YYYY-MM-DDTHH:MM:SS.mmmZ` of a real date, 2000 to 2099: text order is time order. */
export const instant = z
  .string()
  .regex(/^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/)
  .refine(isRealInstant, { error: "must be a date and time that exists" });

export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const etag = z.string().regex(/^[A-Za-z0-9._-]{1,128}$/);
export const versionId = z.string().regex(/^[A-Za-z0-9._-]{1,128}$/);
export const contentType = z.string().regex(/^[a-z0-9.+-]{1,63}\/[a-z0-9.+-]{1,63}$/);
export const bucketName = z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/);
export const sizeBytes = integer(0, MAX_OBJECT_BYTES);
export const attempt = integer(1, 999);
export const revision = integer(1);
/** Any key that a bucket may list, also one that is not ours. */
export const listedKey = text(1, 1024);

function isRealInstant(value: string): boolean {
  const time = Date.parse(value);
  // Date.parse rolls 30 February over into March: only a round trip shows it.
  return Number.isFinite(time) && new Date(time).toISOString() === value;
}

/** Orders two strings by their UTF-8 bytes, as S3 and `COLLATE "C"` do. */
export function compareBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** Whether no two items of the list are equal. */
export function areUnique(items: readonly string[]): boolean {
  return new Set(items).size === items.length;
}
