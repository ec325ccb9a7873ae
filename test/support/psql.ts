/** What how-tos use of `psql`, which the embedded server comes without: statements, and rows without a frame. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createPool } from "../../src/database/pool.ts";

/** Puts the command into the folder, for the server at `PGHOST` and `PGPORT`, as `PGUSER`. */
export async function placePsql(folder: string): Promise<void> {
  const script = `#!/bin/sh\nexec "${process.execPath}" "${import.meta.filename}" "$@"\n`;
  await writeFile(join(folder, "psql"), script, { mode: 0o755 });
}

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      command: { type: "string", short: "c", default: "" },
      "no-align": { type: "boolean", short: "A" },
      "tuples-only": { type: "boolean", short: "t" },
    },
  });
  const { PGHOST = "", PGPORT = "", PGUSER = "" } = process.env;
  const url = `postgres://${PGUSER}@${PGHOST}:${PGPORT}/${positionals[0] ?? ""}`;
  const db = createPool({ url, poolSize: 1, applicationName: "psql", connectionTimeoutMs: 5000 });
  const { rows } = await db.query({ text: values.command, rowMode: "array" });
  for (const row of rows) console.log(Object.values(row).join("|"));
  await db.end();
}

if (import.meta.main) await run();
