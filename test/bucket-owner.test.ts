/** Two installations, an older database, or none that knows a bucket: nothing of it may be deleted. */
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { makeSecrets } from "../src/config.ts";
import { migrate } from "../src/database/schema/migrate.ts";
import { readMigrations } from "../src/database/schema/migration-files.ts";
import { storageTenantId } from "../src/storage/rows/storage-ids.ts";
import { runPass } from "../src/storage/upkeep/reconcile-pass.ts";
import { expireDue } from "../src/storage/upkeep/storage-upkeep.ts";
import { openArtifacts, type Artifact, type Artifacts } from "./support/artifacts.ts";
import { startOnObjectStore } from "./support/object-store.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { runProgram, startProgram } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService } from "./support/service.ts";
import { seedMany, storageOf } from "./support/exports.ts";
import { tenant } from "./support/two-tenants.ts";
import { CREDENTIALS, prepareVersitygw } from "./support/versitygw.ts";

const unavailable = prepareVersitygw();
const MIGRATIONS = join(import.meta.dirname, "..", "migrations");
/** Of version 0.1.0, which knew no owner mark. */
const LAST_OF_0_1_0 = "0016_workers.sql";

const ready = z.object({ status: z.literal("ready"), warnings: z.array(z.string()) });

describe("a folder that another installation uses", () => {
  let artifacts: Artifacts;
  let stored: Artifact[];
  before(async () => {
    artifacts = await openArtifacts();
    stored = await Promise.all(Array.from({ length: 18 }, () => artifacts.store("available")));
  });
  after(() => artifacts.close());

  it("is neither compared nor expired by an empty database, which says so everywhere", async () => {
    const database = await createTestDatabase();
    const env = { ...artifacts.env, DATABASE_URL: database.url, PORT: "0" };
    const intruder = await startTestService({
      database,
      env,
      storageTimes: { firstPassAfterMs: 86_400_000, expireEveryMs: 50 },
    });
    try {
      await artifacts.age();
      const { body } = await intruder.call("GET", "/ready", { as: null });
      const { warnings } = ready.parse(body);
      assert.match(
        warnings.join(),
        /carries the owner mark of another installation.*storage own --take-over/,
      );
      const { text } = await intruder.call("GET", "/metrics", { as: null });
      assert.match(text, /^storage_owner_trouble 1$/m);
      for (const command of [["storage", "doctor"], ["doctor"]]) {
        const { code, output } = await runProgram(command, { ...env, DNS_SERVERS: "127.0.0.1:1" });
        assert.equal(code, 1, output);
        assert.match(output, /fail {2}owner mark: .*another installation/);
      }
      const { code, output } = await runProgram(["storage", "reconcile"], env);
      assert.equal(code, 1, output);
      assert.match(output, /Stopped: .*another installation/);
      for (const command of [["adopt"], ["adopt", "--dry-run"], ["trash", "empty", "--all", "--yes"]]) {
        const refused = await runProgram(["storage", ...command], env);
        assert.equal(refused.code, 1, refused.output);
        assert.match(refused.output, /another installation/);
      }
      const { rows } = await database.pool.query("SELECT FROM postern.storage_marks");
      assert.equal(rows.length, 0);
      assert.ok(stored.every(({ place }) => existsSync(place)));
    } finally {
      await intruder.stop();
      await database.drop();
    }
  });

  it("is taken over on purpose, and then refuses the one that had it, which still erases what is its own", async () => {
    const database = await createTestDatabase();
    const env = { ...artifacts.env, DATABASE_URL: database.url };
    assert.equal((await runProgram(["storage", "own"], env)).code, 1);
    const taken = await runProgram(["storage", "own", "--take-over"], env);
    assert.equal(taken.code, 0, taken.output);
    assert.match(taken.output, /is this installation's now\. Its owner mark named/);
    const { end, reason } = await runPass(artifacts.services);
    assert.equal(end, "refused");
    assert.match(reason ?? "", /another installation/);

    const [own, changed] = stored;
    assert.ok(own !== undefined && changed !== undefined);
    await writeFile(changed.place, "another's bytes");
    const planted = join(artifacts.dataDir, "storage", "objects", "v1", "t", storageTenantId(tenant("acme")));
    assert.ok(existsSync(planted));
    const erased = await runProgram(
      ["storage", "erase", "--tenant", "acme", "--all", "--yes"],
      artifacts.env,
    );
    assert.equal(erased.code, 1, erased.output);
    assert.match(erased.output, /What is there without a row was left: .*another installation/);
    assert.ok(!existsSync(own.place));
    assert.ok(existsSync(changed.place));
    await database.drop();
  });
});

describe("a folder whose mark does not fit the database", () => {
  let artifacts: Artifacts;
  let artifact: Artifact;
  before(async () => {
    artifacts = await openArtifacts();
    artifact = await artifacts.store("available");
  });
  after(() => artifacts.close());

  const marks = () => join(artifacts.dataDir, "storage", "postern", "owner");

  it("is not compared by a database that was restored from before its last pass", async () => {
    const { rows } = await artifacts.pool.query("SELECT generation FROM postern.storage_buckets");
    assert.equal((await runPass(artifacts.services)).end, "complete");
    const orphan = await artifacts.storeOrphan();
    await artifacts.age();
    // As in a backup of that time.
    await artifacts.pool.query("UPDATE postern.storage_buckets SET generation = $1", [rows[0].generation]);
    const { end, reason } = await runPass(artifacts.services);
    assert.equal(end, "refused");
    assert.match(reason ?? "", /restored from an older backup, or a second copy of it is in use/);
    assert.ok(existsSync(artifacts.placeOf(orphan)));
    const taken = await runProgram(["storage", "own", "--take-over"], artifacts.env);
    assert.equal(taken.code, 0, taken.output);
    assert.equal((await runPass(artifacts.services)).end, "complete");
    assert.equal((await readdir(marks())).length, 1);
  });

  it("is not compared when the mark is gone beside known artifacts, and is when none are known", async () => {
    await rm(marks(), { recursive: true });
    const { end, reason } = await runPass(artifacts.services);
    assert.equal(end, "refused");
    assert.match(reason ?? "", /The owner mark of the bucket artifacts is gone/);
    await artifacts.reset();
    assert.equal((await runPass(artifacts.services)).end, "complete");
    assert.equal((await readdir(marks())).length, 1);
    artifact = await artifacts.store("available");
  });

  it("is not judged at all when the mark is none that Postern writes", async () => {
    const [name = ""] = await readdir(marks());
    await writeFile(join(marks(), name), "somebody's notes");
    await assert.rejects(runPass(artifacts.services), /is not one that Postern writes/);
    assert.equal(await artifacts.stateOf(artifact), "available");
  });
});

describe("a folder and a database of version 0.1.0", () => {
  let database: TestDatabase;
  let dataDir: string;
  before(async () => {
    database = await createTestDatabase({ migrated: false });
    dataDir = await mkdtemp(join(tmpdir(), "postern-former-"));
    const files = await readMigrations(MIGRATIONS);
    await migrate(
      database.pool,
      files.filter(({ file }) => file <= LAST_OF_0_1_0),
    );
  });
  after(async () => {
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const marks = () => readdir(join(dataDir, "storage", "postern", "owner")).catch(() => []);

  /** As that version left it. */
  async function storeAsBefore(): Promise<{ id: string; place: string }> {
    const [id, deliveryId, text] = [randomUUID(), randomUUID(), randomUUID()];
    const owner = storageTenantId(tenant("acme"));
    const key = `v1/t/${owner}/d/${deliveryId}/a/1/request_body.json`;
    const sha256 = createHash("sha256").update(text).digest("hex");
    const place = join(dataDir, "storage", "objects", key);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, text);
    const earlier = new Date(Date.now() - 10_800_000);
    await utimes(place, earlier, earlier);
    await database.pool.query(
      `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key,
          size, sha256, content_type, version_id, etag, state, state_since, available_at, deadline)
        VALUES ('acme', $1, $2, $3, 1, 'request_body', 'artifacts', $4, $5, $6, 'application/json', $6, $6,
          'available', now() - interval '3 hours', now() - interval '3 hours', now() + interval '1 day')`,
      [id, owner, deliveryId, key, text.length, sha256],
    );
    return { id, place };
  }

  it("gets its mark at the first start, as its artifacts are found there, and not while one is missing", async () => {
    const stored = await Promise.all(Array.from({ length: 5 }, storeAsBefore));
    const env = {
      ...makeSecrets(),
      PORT: "0",
      LOG_LEVEL: "info",
      DATABASE_URL: database.url,
      DATABASE_POOL_SIZE: "5",
      DATA_DIR: dataDir,
    };
    const [lost] = stored;
    assert.ok(lost !== undefined);
    await rm(lost.place);
    const first = await startProgram(["up"], env);
    assert.match(first.output(), /of 5 artifacts that this database knows only 4 are there/);
    await first.end("SIGTERM");
    assert.deepEqual(await marks(), []);

    await database.pool.query("UPDATE postern.stored_objects SET state = 'missing' WHERE id = $1", [lost.id]);
    const second = await startProgram(["up"], env);
    assert.doesNotMatch(second.output(), /owner mark/);
    assert.deepEqual(await marks(), ["000000000001.json"]);
    await second.end("SIGTERM");
    const compared = await runProgram(["storage", "reconcile"], env);
    assert.equal(compared.code, 0, compared.output);
  });

  it("is refused to an empty database, as the artifacts there are not its own", async () => {
    await rm(join(dataDir, "storage", "postern"), { recursive: true });
    const empty = await createTestDatabase();
    const service = await startTestService({ database: empty, env: { DATA_DIR: dataDir } });
    const { body } = await service.call("GET", "/ready", { as: null });
    assert.match(ready.parse(body).warnings.join(), /holds artifacts that this database does not know/);
    assert.deepEqual(await marks(), []);
    await service.stop();
    await empty.drop();
  });
});

describe("an object store that two installations use", { skip: unavailable ?? false }, () => {
  it("belongs to the first, and what has come to its deadline stays in the second", async () => {
    const running = await startOnObjectStore({
      storageTimes: { firstPassAfterMs: 86_400_000, expireEveryMs: 50 },
    });
    const database = await createTestDatabase();
    const env = { ...running.service.env, ...CREDENTIALS, DATABASE_URL: database.url };
    const second = await startTestService({
      database,
      env,
      storageTimes: { firstPassAfterMs: 86_400_000, expireEveryMs: 50 },
    });
    try {
      await seedMany(running.service.database.pool, "acme", 2);
      const storage = storageOf(running.service);
      const found = await storage.waitFor(await storage.request());
      await running.age();
      const refused = await runProgram(["storage", "reconcile"], env);
      assert.equal(refused.code, 1);
      assert.match(refused.output, /owner mark of another installation/);

      await seedMany(database.pool, "globex", 2);
      const other = storageOf({ call: (method, path, options) => second.call(method, path, options) });
      const own = await other.waitFor(await other.request());
      await database.pool.query("UPDATE postern.stored_objects SET deadline = now()");
      const state = async () =>
        (await database.pool.query("SELECT state FROM postern.stored_objects")).rows[0]?.state as unknown;
      const looks = async () =>
        Number(
          /storage_operation_duration_seconds_count\{operation="list",outcome="ok"\} ([0-9]+)/.exec(
            (await second.call("GET", "/metrics", { as: null })).text,
          )?.[1] ?? 0,
        );
      const earlier = await looks();
      await eventually(async () => (await looks()) > earlier + 2);
      assert.equal(await state(), "available");
      assert.equal((await runProgram(["storage", "own", "--take-over"], env)).code, 0);
      await eventually(async () => (await state()) === "expired");
      assert.equal((await other.get(own.id)).status, "expired");
      const json = { delivery_id: found.id };
      assert.equal(
        (await storage.call("POST", `/objects/${found.object_id}/download`, { json })).status,
        201,
      );
      assert.equal(
        (await runProgram(["storage", "reconcile"], { ...running.service.env, ...CREDENTIALS })).code,
        1,
      );
      assert.equal(await expireDue(running.service.database.pool), 0);
    } finally {
      await second.stop();
      await database.drop();
      await running.stop();
    }
  });
});
