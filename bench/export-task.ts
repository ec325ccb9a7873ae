/** Exporting a long log: how long it takes, and how much memory. */
import assert from "node:assert/strict";
import { ownerOf } from "./callers.ts";
import { openConnection } from "./generator.ts";
import { memoryMib } from "./measure.ts";
import { seedDeliveries } from "./seed.ts";
import { costOf, type Program, type Stand } from "./stand.ts";

const OWNER = ownerOf("exporter");
const DAYS = 20;

/** Rows of one tenant over twenty days and ten endpoints. */
export async function seedExportLog(stand: Stand, total: number): Promise<void> {
  await seedDeliveries(
    stand,
    { total, days: DAYS },
    { tenant: "'exporter'", endpoint: "md5('e' || n % 10)::uuid", isFailed: "false" },
  );
}

/** From asking to the archive that can be downloaded, and what it cost. */
export async function exportLog(stand: Stand, program: Program, formats: readonly string[]) {
  const path = "/api/storage/exports";
  const connection = await openConnection(await stand.target(program, path, OWNER));
  const before = memoryMib(program.pid).now;
  const startedAt = performance.now();
  let found = { status: "", progress: { rows_done: 0, bytes: 0 }, error: "" };
  const cost = await costOf(stand, [program], async () => {
    const day = 86_400_000;
    const [from, to] = [Date.now() - (DAYS + 1) * day, Date.now()].map((ms) => new Date(ms).toISOString());
    const asked = await connection.post(JSON.stringify({ from, to, formats }));
    assert.equal(asked.status, 202, asked.body);
    const { id } = JSON.parse(asked.body);
    while (found.status !== "ready") {
      await new Promise((resolve) => setTimeout(resolve, 200));
      found = JSON.parse((await connection.get(`${path}/${id}`)).body);
      assert.notEqual(found.status, "failed", found.error);
    }
  });
  const seconds = (performance.now() - startedAt) / 1000;
  connection.close();
  return {
    deliveries: found.progress.rows_done,
    s: Number(seconds.toFixed(1)),
    "archive bytes": found.progress.bytes,
    "MiB before": before,
    "peak MiB": cost.peakMib,
    "postern CPU s": Number(cost.posternCpuS.toFixed(1)),
    "postgres CPU s": Number(cost.postgresCpuS.toFixed(1)),
  };
}
