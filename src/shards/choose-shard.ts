/**
 * Which shard a new tenant goes to: the one with the best score, which comes of
 * both names (rendezvous hashing). So shards get tenants by their weights, every
 * process chooses alike, and a new shard takes its part from all others'. The
 * directory keeps the choice: a changed list moves no tenant.
 */
import { hash } from "node:crypto";
import type { Shard } from "./shard-list.ts";

type Place = Pick<Shard, "name" | "weight">;

/** @param shards at least one with a weight above 0. */
export function makeChooser(shards: readonly Place[]): (tenantId: string) => string {
  const places = shards.map(({ name, weight }) => ({ name, weight, seed: seedOf(name) }));
  return (tenantId) => {
    const seed = seedOf(tenantId);
    let best = { name: "", score: Infinity };
    for (const { name, weight, seed: own } of places) {
      // The least of several exponential times, each at the rate of its weight: without one it never comes.
      const score = -Math.log(fractionOf(seed, own)) / weight;
      if (score < best.score) best = { name, score };
    }
    if (best.name === "") throw new Error("no shard takes new tenants");
    return best.name;
  };
}

type Seed = { high: number; low: number };

function seedOf(text: string): Seed {
  const bytes = hash("sha256", text, "buffer");
  return { high: bytes.readInt32BE(0), low: bytes.readInt32BE(4) };
}

/** Above 0 and below 1, evenly. */
function fractionOf(one: Seed, other: Seed): number {
  const mixed = mix(mix(one.high ^ other.low) + (one.low ^ other.high));
  return ((mixed >>> 0) + 0.5) / 2 ** 32;
}

/** MurmurHash3's finalizer. */
function mix(given: number): number {
  let value = given | 0;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}
