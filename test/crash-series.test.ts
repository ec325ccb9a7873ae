/** The series of `npm run bench:crash`, as short as it can be with the database killed in it once. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { it } from "node:test";
import { promisify } from "node:util";
import { z } from "zod";

const CRASH = join(import.meta.dirname, "..", "bench", "crash.ts");
const ROUNDS = 5;

const found = z.object({
  rounds: z.literal(ROUNDS),
  accepted: z.number().positive(),
  requests: z.number().positive(),
  lost: z.literal(0),
  unaccounted: z.literal(0),
  miscounted: z.literal(0),
});

it("loses nothing in a series of kills under load, of Postern and of PostgreSQL", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [CRASH, String(ROUNDS)]);
  const last = stdout.trim().split("\n").at(-1) ?? "";
  assert.doesNotThrow(() => found.parse(JSON.parse(last)), stdout);
});
