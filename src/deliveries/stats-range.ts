/** Buckets of statistics: which there are, and what covers a range. Pure. */

/** Minutes that a row of counts covers. */
export type Grain = 10 | 60 | 1440;

export const BUCKET_NAMES = ["10m", "1h", "1d"] as const;
export type BucketName = (typeof BUCKET_NAMES)[number];
export const BUCKETS: Readonly<Record<BucketName, Grain>> = { "10m": 10, "1h": 60, "1d": 1440 };

const MINUTE_MS = 60_000;
/** From the coarsest. */
const GRAINS: readonly Grain[] = [1440, 60, 10];

/** Milliseconds since 1970: from the first, inclusive, to the second, exclusive. */
export type Span = { fromMs: number; toMs: number };

/** The least span of whole buckets that has all of the given one. Buckets begin at whole days, hours and ten minutes in UTC. */
export function wholeBuckets({ fromMs, toMs }: Span, grain: Grain): Span {
  const ms = grain * MINUTE_MS;
  return { fromMs: Math.floor(fromMs / ms) * ms, toMs: Math.ceil(toMs / ms) * ms };
}

/** The buckets of a span of whole ones. */
export function countBuckets({ fromMs, toMs }: Span, grain: Grain): number {
  return (toMs - fromMs) / (grain * MINUTE_MS);
}

/** When each of them begins, oldest first. */
export function bucketsIn(span: Span, grain: Grain): number[] {
  return Array.from(
    { length: countBuckets(span, grain) },
    (_, place) => span.fromMs + place * grain * MINUTE_MS,
  );
}

/**
 * A span of whole ten minutes as spans of the coarsest grains that fit: whole
 * days, and whole hours and ten minutes at the ends. Five at most, in order.
 */
export function coarsestSpans(span: Span, grains: readonly Grain[] = GRAINS): (Span & { grain: Grain })[] {
  const [grain, ...finer] = grains;
  if (grain === undefined) return [];
  const ms = grain * MINUTE_MS;
  const fromMs = Math.ceil(span.fromMs / ms) * ms;
  const toMs = Math.floor(span.toMs / ms) * ms;
  if (fromMs >= toMs) return coarsestSpans(span, finer);
  return [
    ...coarsestSpans({ fromMs: span.fromMs, toMs: fromMs }, finer),
    { fromMs, toMs, grain },
    ...coarsestSpans({ fromMs: toMs, toMs: span.toMs }, finer),
  ];
}
