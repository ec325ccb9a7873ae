/** Exports whose worker is killed, and what another makes of what it left. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Environment } from "../src/config.ts";
import { csvRows, ndjsonRows, seedMany, storageOf, unpack, type Export } from "./support/exports.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService } from "./support/service.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

/** More than one part. */
const ROWS = 60_000;

let database: TestDatabase;
let receiver: TlsReceiver;
let env: Environment;
const folders: string[] = [];

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  env = await sharedSettings(database.url, receiver.caPem);
  await seedMany(database.pool, "acme", ROWS);
});
after(async () => {
  await receiver.close();
  await database.drop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function newDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "postern-crash-"));
  folders.push(folder);
  return folder;
}

async function rowOf(id: string) {
  const { rows } = await database.pool.query(
    `SELECT e.status, e.attempt, jsonb_array_length(e.parts) AS parts,
        (SELECT count(*)::int FROM postern.stored_objects o WHERE o.delivery_id = e.id) AS objects
      FROM postern.storage_exports e WHERE id = $1`,
    [id],
  );
  assert.notEqual(rows[0]?.status, "ready", "it was ready before it could be killed");
  return rows[0];
}

/** Runs the program on the folder until the moment comes, and kills it there. */
async function killAt(
  dataDir: string,
  moment: (id: string) => Promise<boolean>,
  given?: string,
): Promise<string> {
  const program = await startProgram(["up"], { ...env, DATA_DIR: dataDir });
  const id = given ?? (await storageOf(program).request());
  while (!(await moment(id))) await new Promise((resolve) => setTimeout(resolve, 1));
  await program.end("SIGKILL");
  await endLeases();
  return id;
}

/** Nobody waits for a dead process's lease here. */
async function endLeases(): Promise<void> {
  await database.pool.query(
    "UPDATE postern.storage_exports SET lease_until = now() WHERE lease_until IS NOT NULL",
  );
}

/** Lets a process that is not killed finish it, and looks at everything it should have left. */
async function finish(dataDir: string, id: string): Promise<Export> {
  const service = await startTestService({
    env: { ...env, DATA_DIR: dataDir, LOG_LEVEL: "silent" },
    database,
    receiver,
  });
  try {
    const storage = storageOf(service);
    const found = await storage.waitFor(id);
    const files = await unpack(await storage.download(found));
    const ids = ndjsonRows(files).map((row) => row["id"]);
    assert.equal(ids.length, ROWS);
    assert.equal(new Set(ids).size, ROWS);
    assert.deepEqual(
      csvRows(files).map((row) => row["id"]),
      ids,
    );
    const { rows } = await database.pool.query(
      "SELECT state FROM postern.stored_objects WHERE delivery_id = $1 AND state = 'available'",
      [id],
    );
    assert.equal(rows.length, 1);
    await eventually(async () => (await readdir(join(dataDir, "exports"))).length === 0);
    return found;
  } finally {
    await service.stop();
  }
}

const isStaging = async (id: string) => (await rowOf(id))?.parts >= 1;

describe("an export whose worker is killed", () => {
  it("while it stages, assembles and uploads goes on behind what was done, and ends with one archive", async () => {
    const dataDir = await newDataDir();
    const id = await killAt(dataDir, isStaging);
    const folder = join(dataDir, "exports", id);
    const isAssembling = async () => (await readdir(folder)).some((name) => name.endsWith(".zip"));
    await killAt(dataDir, async () => (await rowOf(id), isAssembling()), id);
    await killAt(dataDir, async () => (await rowOf(id))?.objects === 1, id);
    await finish(dataDir, id);
    const { rows } = await database.pool.query("SELECT attempt FROM postern.storage_exports WHERE id = $1", [
      id,
    ]);
    assert.equal(rows[0]?.["attempt"], 1);
  });

  it("is begun anew by a machine that has none of its files", async () => {
    const id = await killAt(await newDataDir(), isStaging);
    const found = await finish(await newDataDir(), id);
    assert.equal(found.progress.rows_done, ROWS);
    const { rows } = await database.pool.query("SELECT attempt FROM postern.storage_exports WHERE id = $1", [
      id,
    ]);
    assert.equal(rows[0]?.["attempt"], 2);
  });

  it("has failed when that happens three times without any progress", async () => {
    const dataDir = await newDataDir();
    const service = await startTestService({
      env: { ...env, DATA_DIR: dataDir, LOG_LEVEL: "silent" },
      database,
      receiver,
      roles: ["api"],
    });
    const id = await storageOf(service).request();
    await service.stop();
    await database.pool.query("UPDATE postern.storage_exports SET fruitless_runs = 3 WHERE id = $1", [id]);
    const worker = await startTestService({
      env: { ...env, DATA_DIR: dataDir, LOG_LEVEL: "silent" },
      database,
      receiver,
    });
    try {
      const found = await storageOf(worker).waitFor(id, "failed");
      assert.match(found.error ?? "", /three tries/);
      assert.equal(found.object_id, null);
    } finally {
      await worker.stop();
    }
  });
});

describe("an export whose object store is away", () => {
  it("waits with what it has staged, and is made when the store is back", async () => {
    const dataDir = await newDataDir();
    // Where the folder of artifacts should be there is a file.
    await writeFile(join(dataDir, "storage"), "");
    const service = await startTestService({
      env: { ...env, DATA_DIR: dataDir, LOG_LEVEL: "silent" },
      database,
      receiver,
    });
    const id = await storageOf(service).request();
    const waitsForStore = async () => {
      const { rows } = await database.pool.query(
        `SELECT fruitless_runs = 0 AND lease_until > now() + interval '20 seconds' AS waits
          FROM postern.storage_exports WHERE id = $1 AND rows_done = rows_total`,
        [id],
      );
      return rows[0]?.waits === true;
    };
    for (let run = 0; run < 4; run++) {
      await eventually(waitsForStore);
      await endLeases();
    }
    await eventually(waitsForStore);
    await service.stop();
    await rm(join(dataDir, "storage"));
    await endLeases();
    await finish(dataDir, id);
    const { rows } = await database.pool.query("SELECT attempt FROM postern.storage_exports WHERE id = $1", [
      id,
    ]);
    assert.equal(rows[0]?.["attempt"], 1);
  });
});

describe("an export whose worker is stopped", () => {
  it("is given back at once, and the run that was interrupted counts as none", async () => {
    const dataDir = await newDataDir();
    const program = await startProgram(["up"], { ...env, DATA_DIR: dataDir });
    const id = await storageOf(program).request();
    while (!(await isStaging(id))) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.equal((await program.end("SIGTERM")).code, 0, program.output());
    const { rows } = await database.pool.query(
      "SELECT fruitless_runs, lease_until <= now() AS is_free FROM postern.storage_exports WHERE id = $1",
      [id],
    );
    assert.deepEqual(rows, [{ fruitless_runs: 0, is_free: true }]);
    await finish(dataDir, id);
  });
});
