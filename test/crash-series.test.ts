/** The series of `npm run bench:crash`, as short as it can be with the database killed in it once. */
import assert from "node:assert/strict";
import { it } from "node:test";
import * as z from "zod";
import { runSeries } from "./support/bench-series.ts";

const ROUNDS = 5;

const found = z.object({
  rounds: z.literal(ROUNDS),
  accepted: z.number().positive(),
  requests: z.number().positive(),
  lost: z.literal(0),
  unaccounted: z.literal(0),
  miscounted: z.literal(0),
});

/** Postern is started in each round; a machine under load takes many times as long. */
const LIMIT_MS = 480_000;

it(
  "loses nothing in a series of kills under load, of Postern and of PostgreSQL",
  { timeout: LIMIT_MS },
  async ({ signal }) => {
    const { stdout, result } = await runSeries("crash.ts", ROUNDS, signal);
    assert.doesNotThrow(() => found.parse(JSON.parse(result)), stdout);
  },
);
