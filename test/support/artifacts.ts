/** Artifacts with rows in a real database and bytes in a real folder, for tests that make the two differ. */
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { ignoreGone } from "./gone.ts";
import { readConfig, type Environment } from "../../src/config.ts";
import type { Pool } from "../../src/database/pool.ts";
import { openReconciling } from "../../src/service/service.ts";
import { newDeliveryId } from "../../src/shared/id.ts";
import { buildObjectKey } from "../../src/storage/rules/object-key.ts";
import type { StoredObject } from "../../src/storage/rules/stored-object.ts";
import { runPass, type PassServices, type PassSummary } from "../../src/storage/upkeep/reconcile-pass.ts";
import { insertPendingObject, recordUpload } from "../../src/storage/rows/stored-object-store.ts";
import { makeLog } from "../../src/telemetry/log.ts";
import { createTestDatabase } from "./postgres.ts";
import { startTestService } from "./service.ts";
import { tenant } from "./two-tenants.ts";

const ACME = tenant("acme");
const THREE_HOURS_MS = 10_800_000;

export type Artifact = { id: string; key: string; place: string };

export type Artifacts = Awaited<ReturnType<typeof openArtifacts>>;

export async function openArtifacts() {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), "postern-test-"));
  // Links are tried over HTTP, so something must serve them.
  const api = await startTestService({ database, env: { DATA_DIR: dataDir }, roles: ["api"] });
  const env: Environment = { ...api.env, PORT: new URL(api.url).port };
  const { services, close } = await openReconciling({
    config: readConfig(env),
    databaseUrl: database.url,
    migrations: [],
    log: makeLog("silent"),
  });

  function placeOf(key: string): string {
    return join(dataDir, "storage", "objects", ...key.split("/"));
  }

  /** As an upload begins, with its bytes' size and hash. */
  function newObject(bytes: string | Buffer, kind: "request_body" | "export" = "request_body") {
    const of = { tenantId: ACME, id: randomUUID(), deliveryId: newDeliveryId(), attempt: 1 };
    return { ...of, kind, bucket: services.bucket.name, ...factsOf(bytes) };
  }

  /** As a process leaves it that dies right after the upload, before it can record it. */
  async function storeUnrecorded(
    kind: "request_body" | "export" = "request_body",
    bytes: string = randomUUID(),
  ) {
    const row = await insertPendingObject(database.pool, newObject(bytes, kind));
    assert.ok(row !== null);
    return {
      row,
      upload: await put(row.key, bytes),
      artifact: { id: row.id, key: row.key, place: placeOf(row.key) },
    };
  }

  /** An artifact whose bytes are uploaded; `state` as if it had come there three hours ago. */
  async function store(state: StoredObject["state"]): Promise<Artifact> {
    const { row, upload, artifact } = await storeUnrecorded();
    await recordUpload(database.pool, ACME, row, upload);
    // What is pending has no deadline yet.
    if (state === "pending") return artifact;
    await database.pool.query(
      `UPDATE postern.stored_objects SET state = $2, available_at = now(), deadline = now() + interval '1 day'
        WHERE id = $1`,
      [row.id, state],
    );
    return artifact;
  }

  async function put(key: string, bytes: string) {
    const open = () => Readable.from([Buffer.from(bytes)]);
    const answer = await services.bucket.put({ key, ...factsOf(bytes), open });
    assert.ok(answer.code === "stored");
    return answer;
  }

  /** An object that no row speaks of. */
  async function storeOrphan(tenantUuid?: string): Promise<string> {
    const key = buildObjectKey({
      tenant_id: tenantUuid ?? randomUUID(),
      delivery_id: randomUUID(),
      attempt: 1,
      kind: "request_body",
    });
    await put(key, "an orphan");
    return key;
  }

  /** Makes all that was seen and stored three hours older. */
  async function age(): Promise<void> {
    await ageRows(database.pool);
    const { objects } = await services.bucket.list({ after: null, limit: 1000 });
    for (const { key } of objects) await ageFile(placeOf(key));
  }

  /** Two looks, hours apart: what is wrong is suspected by the first and confirmed by the second. */
  async function agedPasses(by: PassServices = services): Promise<[PassSummary, PassSummary]> {
    await age();
    const first = await runPass(by);
    await age();
    return [first, await runPass(by)];
  }

  async function stateOf({ id }: Artifact): Promise<string> {
    const { rows } = await database.pool.query("SELECT state FROM postern.stored_objects WHERE id = $1", [
      id,
    ]);
    return rows[0].state;
  }

  async function toldTenants(): Promise<unknown[]> {
    const { rows } = await database.pool.query(
      "SELECT type, body::json -> 'data' AS data FROM postern.outbox ORDER BY id",
    );
    return rows.map(({ type, data }) => ({ type, object_id: data.object_id }));
  }

  async function everything(): Promise<string> {
    const tables = ["stored_objects", "storage_marks", "storage_events", "storage_cursor", "outbox"];
    const texts = await Promise.all(
      tables.map(
        async (table) =>
          (await database.pool.query(`SELECT to_jsonb(t) AS row FROM postern.${table} t ORDER BY 1`)).rows,
      ),
    );
    const { objects } = await services.bucket.list({ after: null, limit: 1000 });
    return JSON.stringify([texts, objects]);
  }

  return {
    pool: database.pool,
    dataDir,
    env,
    services,
    /** By the API process beside. */
    call: (...call: Parameters<typeof api.call>) => api.call(...call),
    metrics: async () => (await api.call("GET", "/metrics", { as: null })).text,
    placeOf,
    store,
    newObject,
    storeUnrecorded,
    storeOrphan,
    age,
    agedPasses,
    stateOf,
    toldTenants,
    everything,
    /** Empties tables and folder. */
    async reset(): Promise<void> {
      await database.pool.query(
        `TRUNCATE postern.stored_objects, postern.storage_marks, postern.storage_events, postern.storage_cursor, postern.storage_exports, postern.storage_destroyed,
          postern.storage_grants, postern.tenant_settings,
          postern.outbox`,
      );
      await rm(join(dataDir, "storage", "objects"), { recursive: true, force: true });
      await mkdir(join(dataDir, "storage", "objects"), { recursive: true });
      await rm(join(dataDir, "storage", "postern", "trash"), { recursive: true, force: true });
    },
    async close(): Promise<void> {
      await close();
      await api.stop();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Rows and marks, as the database's clock sees them. */
export async function ageRows(pool: Pool): Promise<void> {
  for (const [table, column] of [
    ["stored_objects", "state_since"],
    ["storage_marks", "first_seen_at"],
  ]) {
    await pool.query(`UPDATE postern.${table} SET ${column} = ${column} - interval '3 hours'`);
  }
}

/** The file of an object, by which its store tells when it was changed. */
async function ageFile(place: string): Promise<void> {
  const earlier = new Date((await stat(place)).mtimeMs - THREE_HOURS_MS);
  await utimes(place, earlier, earlier);
}

/** Those of a folder of objects, less what the running service removes meanwhile: it replaces its mark at each pass. */
export async function ageFiles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await ageFile(join(entry.parentPath, entry.name)).catch(ignoreGone);
  }
}

function factsOf(bytes: string | Buffer) {
  return { size: Buffer.byteLength(bytes), sha256: createHash("sha256").update(bytes).digest("hex") };
}
