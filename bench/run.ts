/**
 * `npm run bench [-- A B …]`: runs the tasks and prints a table and JSON. With
 * `--postgres 15` on the oldest PostgreSQL that is supported, as shipped. Keep
 * the machine quiet meanwhile.
 */
import { cpus, release, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { POSTGRES_SETTINGS } from "./database.ts";
import { openStand } from "./stand.ts";
import { TASKS, type Row } from "./tasks.ts";

const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { postgres: { type: "string", default: "18" } },
});
const major = values.postgres;
if (major !== "15" && major !== "18") {
  console.error("--postgres is 15 or 18.");
  process.exit(1);
}
const unknown = wanted.filter((name) => !(name in TASKS));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(", ")}. The tasks are: ${Object.keys(TASKS).join(", ")}.`);
  process.exit(1);
}

const stand = await openStand(major);
const rows: Row[] = [];
const [server] = await stand.sql("SELECT version()");
try {
  for (const [name, task] of Object.entries(TASKS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    process.stderr.write(`${name} … `);
    const row = await task(stand);
    rows.push(row);
    process.stderr.write(`${JSON.stringify(row)}\n`);
  }
} finally {
  await stand.close();
}

const machine = {
  cores: cpus().length,
  cpu: cpus()[0]?.model,
  memoryGib: Math.round(totalmem() / 1024 ** 3),
  kernel: release(),
  node: process.version,
  postgres: { ...server, ...POSTGRES_SETTINGS },
};
console.table(rows);
console.log(JSON.stringify({ machine, rows }, null, 2));
