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

/** Seconds since 1970, delivered, failed, sent, sum and greatest of latencies in milliseconds. */
type Part = [number, number, number, number, number, number];
const MEMBERS = 6;

/** Parts of an endpoint's buckets: the members of each, and one part behind the other, with commas between them. */
type EndpointParts = { endpointId: EndpointId; parts: string };

/** Each endpoint's buckets, in any order, whose parts may be spread over several texts. */
export function addUpParts(found: readonly EndpointParts[]): Map<EndpointId, BucketCounts[]> {
  const sums = new Map<EndpointId, Map<number, Part>>();
  for (const { endpointId, parts } of found) {
    const ofEndpoint = sums.get(endpointId) ?? new Map<number, Part>();
    sums.set(endpointId, ofEndpoint);
    for (const part of partsIn(parts)) {
      const known = ofEndpoint.get(part[0]);
      ofEndpoint.set(part[0], known === undefined ? part : together(known, part));
    }
  }
  return new Map([...sums].map(([endpointId, parts]) => [endpointId, [...parts.values()].map(toCounts)]));
}

function partsIn(text: string): Part[] {
  const numbers = text.split(",").map(Number);
  const parts: Part[] = [];
  for (let start = 0; start < numbers.length; start += MEMBERS) {
    const [at = 0, delivered = 0, failed = 0, sent = 0, sumMs = 0, maxMs = 0] = numbers.slice(
      start,
      start + MEMBERS,
    );
    parts.push([at, delivered, failed, sent, sumMs, maxMs]);
  }
  return parts;
}

function together(one: Part, other: Part): Part {
  return [
    one[0],
    one[1] + other[1],
    one[2] + other[2],
    one[3] + other[3],
    one[4] + other[4],
    Math.max(one[5], other[5]),
  ];
}

function toCounts([at, delivered, failed, sent, sumMs, maxMs]: Part): BucketCounts {
  return {
    atMs: at * 1000,
    delivered,
    failed,
    latencyAvgMs: sent === 0 ? null : sumMs / sent,
    latencyMaxMs: sent === 0 ? null : maxMs,
  };
}
