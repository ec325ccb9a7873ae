/** The series of `node bench/storage-kills.ts`, short, in a folder and in an object store. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import * as z from "zod";
import { prepareVersitygw } from "./support/versitygw.ts";

const SERIES = join(import.meta.dirname, "..", "bench", "storage-kills.ts");
const ROUNDS = 2;

const found = z.object({
  kills: z.number().min(ROUNDS),
  rows: z.number().positive(),
  lost: z.literal(0),
  leaked: z.literal(0),
  wronglyDeleted: z.literal(0),
  wronglyErased: z.literal(0),
});

describe("a series of kills between upload and row", () => {
  for (const store of ["folder", "s3"] as const) {
    const skip = store === "s3" ? (prepareVersitygw() ?? false) : false;
    it(`leaves each row as the bucket is: ${store}`, { skip }, async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [SERIES, String(ROUNDS), store]);
      const last = stdout.trim().split("\n").at(-1) ?? "";
      assert.doesNotThrow(() => found.parse(JSON.parse(last)), stdout);
    });
  }
});
