/** What a bucket of time counts, and adding up the parts that tables have of it. Pure. */
import type { EndpointId } from "../shared/id.ts";

type Counts = {
  delivered: number;
  failed: number;
  /** Of the attempts that were sent; null where none was. */
  latencyAvgMs: number | null;
  latencyMaxMs: number | null;
};
export type BucketCounts = Counts & { atMs: number };

/** What is added up of a bucket. Latencies in milliseconds. */
type Sums = { delivered: number; failed: number; sent: number; sumMs: number; maxMs: number };

/** Parts of an endpoint's buckets: of each its beginning in seconds since 1970 and its {@link Sums}, all with commas between them. */
type EndpointParts = { endpointId: EndpointId; parts: string };
const MEMBERS = 6;

/** Each endpoint's buckets, in any order, whose parts may be spread over several texts. */
export function addUpParts(found: readonly EndpointParts[]): Map<EndpointId, BucketCounts[]> {
  const sums = new Map<EndpointId, Map<number, Sums>>();
  for (const { endpointId, parts } of found) {
    const ofEndpoint = sums.get(endpointId) ?? new Map<number, Sums>();
    sums.set(endpointId, ofEndpoint);
    addParts(ofEndpoint, JSON.parse(`[${parts}]`));
  }
  return new Map([...sums].map(([endpointId, buckets]) => [endpointId, [...buckets].map(toCounts)]));
}

/** Reads thousands of numbers for one answer, so it makes no array for each part. */
function addParts(sums: Map<number, Sums>, numbers: readonly number[]): void {
  for (let start = 0; start < numbers.length; start += MEMBERS) {
    const member = (place: number): number => numbers[start + place] ?? 0;
    const known = sums.get(member(0)) ?? { delivered: 0, failed: 0, sent: 0, sumMs: 0, maxMs: 0 };
    known.delivered += member(1);
    known.failed += member(2);
    known.sent += member(3);
    known.sumMs += member(4);
    known.maxMs = Math.max(known.maxMs, member(5));
    sums.set(member(0), known);
  }
}

function toCounts([at, { delivered, failed, sent, sumMs, maxMs }]: [number, Sums]): BucketCounts {
  return {
    atMs: at * 1000,
    delivered,
    failed,
    latencyAvgMs: sent === 0 ? null : sumMs / sent,
    latencyMaxMs: sent === 0 ? null : maxMs,
  };
}
