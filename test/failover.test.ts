/** The series of `npm run bench:failover`, short: each kind of failover twice. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { it } from "node:test";
import { promisify } from "node:util";
import { z } from "zod";

const FAILOVER = join(import.meta.dirname, "..", "bench", "failover.ts");
const ROUNDS = 6;

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
    const { stdout } = await promisify(execFile)(process.execPath, [FAILOVER, String(ROUNDS)], { signal });
    const last = stdout.trim().split("\n").at(-1) ?? "";
    assert.doesNotThrow(() => found.parse(JSON.parse(last)), stdout);
  },
);
