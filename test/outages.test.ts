/** The series of `npm run bench:outages`, short: each kind of outage once. */
import assert from "node:assert/strict";
import { it } from "node:test";
import * as z from "zod";
import { runSeries } from "./support/bench-series.ts";

const ROUNDS = 14;

const found = z.object({
  rounds: z.literal(ROUNDS),
  accepted: z.number().positive(),
  requests: z.number().positive(),
  lost: z.literal(0),
  unlogged: z.literal(0),
  doubled: z.literal(0),
  misdelivered: z.literal(0),
  inTwoShards: z.literal(0),
});

/** Servers are copied, started and promoted; a machine under load takes many times as long. */
const LIMIT_MS = 480_000;

it(
  "loses, doubles and mixes up nothing while every part of an installation of two shards fails by turns",
  { timeout: LIMIT_MS },
  async ({ signal }) => {
    const { stdout, result } = await runSeries("outages.ts", ROUNDS, signal);
    // What this machine can't do is no failure, and is told.
    for (const line of stdout.match(/^DID NOT RUN.*$/gm) ?? []) console.log(line);
    assert.doesNotThrow(() => found.parse(JSON.parse(result)), stdout);
  },
);
