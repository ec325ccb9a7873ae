/** Inputs with one value replaced: both sides must admit and refuse the same ones. */
import type { Json } from "../json.ts";
import { walk, withValueAt } from "../patch.ts";
import type { Random } from "./random.ts";

const JUNK: readonly [Json, ...Json[]] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  64,
  1000,
  5_368_709_121,
  9_007_199_254_740_991,
  "",
  "1",
  "unsupported",
  "2026-02-29T00:00:00.000Z",
  "2028-02-29T00:00:00.000Z",
  "2100-01-01T00:00:00.000Z",
  "2026-01-01T24:00:00.000Z",
  "00000000-0000-4000-8000-0000000000A1",
  "00000000-0000-0000-0000-000000000000",
  "\u0661\u0662",
  "\u{10437}".repeat(1024),
  "\u{10437}".repeat(1025),
  "x".repeat(2049),
  [],
  {},
  [[]],
];

/** The input with one value at random replaced by another kind, or by a near miss of itself. */
export function withJunk(random: Random, input: Json): Json {
  const places = [...walk(input)];
  const [first] = places;
  const place = places[random.integer(0, places.length - 1)] ?? first;
  if (place === undefined) return input;
  if (typeof place.value === "string" && random.once(2)) {
    const { value } = place;
    const near: readonly [string, ...string[]] = [
      `${value}\n`,
      ` ${value}`,
      value.toUpperCase(),
      value.slice(1),
      value.slice(0, -1),
      `${value}\u0000`,
    ];
    return withValueAt(input, place.path, random.pick(near).toWellFormed());
  }
  if (typeof place.value === "number" && random.once(2)) {
    // Beyond the safe integers neither side could read it.
    const near = Math.min(place.value + random.pick([-1, 1]), Number.MAX_SAFE_INTEGER);
    return withValueAt(input, place.path, near);
  }
  return withValueAt(input, place.path, random.pick(JUNK));
}
