/** The series of `npm run bench:failover`, short: each kind of failover once. */
import assert from "node:assert/strict";
import { it } from "node:test";
import * as z from "zod";
import { runSeries } from "./support/bench-series.ts";

const ROUNDS = 3;

const found = z.object({
  rounds: z.literal(ROUNDS),
  accepted: z.number().positive(),
  requests: z.number().positive(),
  lost: z.literal(0),
  unaccounted: z.literal(0),
});

/** Servers are copied, started and promoted in each round; a machine under load takes many times as long. */
const LIMIT_MS = 480_000;

it(
  "loses nothing while primaries are killed, paused and replaced under load",
  { timeout: LIMIT_MS },
  async ({ signal }) => {
    const { stdout, result } = await runSeries("failover.ts", ROUNDS, signal);
    assert.doesNotThrow(() => found.parse(JSON.parse(result)), stdout);
  },
);
