/** A database that is older than its bucket by less than a pass, and what is not to be mistaken for one. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { newDeliveryId } from "../src/shared/id.ts";
import { uploadObject } from "../src/storage/library/upload-object.ts";
import { runPass } from "../src/storage/upkeep/reconcile-pass.ts";
import { forgetOldStorage } from "../src/storage/upkeep/reconcile-store.ts";
import { isOwnBucket } from "../src/storage/upkeep/storage-upkeep.ts";
import { makeLog } from "../src/telemetry/log.ts";
import { openArtifacts, type Artifact, type Artifacts } from "./support/artifacts.ts";
import { runProgram } from "./support/program.ts";

describe("a database that was restored to a moment after its last pass", () => {
  let artifacts: Artifacts;
  before(async () => {
    artifacts = await openArtifacts();
    await artifacts.store("available");
    assert.equal((await runPass(artifacts.services)).end, "complete");
  });
  after(() => artifacts.close());

  /** As a backup has it that is older than the row. */
  const forget = ({ id }: Artifact) =>
    artifacts.pool.query("DELETE FROM postern.stored_objects WHERE id = $1", [id]);

  it("is compared when an object is only renamed: its row gets it back", async () => {
    const renamed = await artifacts.store("available");
    const key = renamed.key.replace(/\/d\/[^/]+/, `/d/${newDeliveryId()}`);
    await mkdir(dirname(artifacts.placeOf(key)), { recursive: true });
    await rename(renamed.place, artifacts.placeOf(key));
    const now = new Date();
    await utimes(artifacts.placeOf(key), now, now);
    assert.equal((await runPass(artifacts.services)).end, "complete");
    const [, second] = await artifacts.agedPasses();
    assert.deepEqual([second.end, second.relinked], ["complete", 1]);
    assert.ok(existsSync(renamed.place));
    await rm(artifacts.placeOf(key));
  });

  it("is compared where an archive lies that its run gave up", async () => {
    const { artifact } = await artifacts.storeUnrecorded("export");
    await artifacts.pool.query(
      `INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at, status, attempt)
        SELECT tenant_id, delivery_id, 'ada', now() - interval '1 day', now(), 'running', 2
        FROM postern.stored_objects WHERE id = $1`,
      [artifact.id],
    );
    await artifacts.pool.query(
      "UPDATE postern.stored_objects SET state_since = now() - interval '16 minutes' WHERE id = $1",
      [artifact.id],
    );
    assert.equal(await forgetOldStorage(artifacts.pool, 30), 1);
    assert.ok(existsSync(artifact.place));
    assert.equal((await runPass(artifacts.services)).end, "complete");
    await rm(artifact.place);
  });

  it("is compared where an object came back from the trash", async () => {
    const orphan = await artifacts.store("available");
    await forget(orphan);
    await artifacts.agedPasses();
    assert.ok(!existsSync(orphan.place));
    const restored = await runProgram(["storage", "trash", "restore", "--key", orphan.key], artifacts.env);
    assert.match(restored.printed, /^1 restored/);
    assert.equal((await runPass(artifacts.services)).end, "complete");
    await artifacts.agedPasses();
    assert.ok(!existsSync(orphan.place));
  });

  it("is neither compared nor expired, says why everywhere, and is not when the pass went on in the middle", async () => {
    const due = await artifacts.store("available");
    const stored = await artifacts.store("available");
    await forget(stored);
    // Interrupted behind the object, and restored: what goes on begins behind it, the next pass does not.
    await artifacts.pool.query("UPDATE postern.storage_cursor SET after_key = 'v1/u'");
    assert.equal((await runPass(artifacts.services)).end, "complete");

    const dry = await runPass(artifacts.services, { isDryRun: true });
    assert.match(dry.reason ?? "", /stored since the last pass/);
    const { end, reason } = await runPass(artifacts.services);
    assert.ok(end === "refused" && reason !== null);
    assert.ok(reason.includes(stored.key), reason);
    assert.match(reason, /restored from an older backup.*storage own --take-over.*storage adopt/);
    const told = await runProgram(["storage", "own"], artifacts.env);
    assert.deepEqual([told.code, told.output.includes(stored.key)], [1, true], told.output);
    await artifacts.pool.query("UPDATE postern.stored_objects SET deadline = now() WHERE id = $1", [due.id]);
    const log = makeLog("silent");
    assert.equal(await isOwnBucket({ ...artifacts.services, log }), false);

    const taken = await runProgram(["storage", "own", "--take-over"], artifacts.env);
    assert.equal(taken.code, 0, taken.output);
    const adopted = await runProgram(["storage", "adopt", "--tenants", "globex, acme"], artifacts.env);
    assert.equal(adopted.code, 0, adopted.output);
    assert.equal((await runPass(artifacts.services)).end, "complete");
    assert.ok(existsSync(stored.place));
    const { rows } = await artifacts.pool.query("SELECT FROM postern.stored_objects WHERE key = $1", [
      stored.key,
    ]);
    assert.equal(rows.length, 1);
  });

  it("is noticed after passes that did not come to their end, and at an object of the very moment of the last", async () => {
    assert.equal((await runPass(artifacts.services)).end, "complete");
    const stored = await artifacts.store("available");
    await forget(stored);
    const marks = join(artifacts.dataDir, "storage", "postern", "owner");
    const [last = ""] = await readdir(marks);
    // Some stores tell whole seconds: what was stored right after the mark has its time.
    const { mtimeMs } = await stat(join(marks, last));
    const second = Math.floor(mtimeMs / 1000);
    for (const place of [join(marks, last), stored.place]) await utimes(place, second, second);
    const signal = AbortSignal.abort();
    for (const _ of [1, 2]) assert.equal((await runPass(artifacts.services, { signal })).end, "interrupted");
    assert.equal((await readdir(marks)).length, 2);
    const { end, reason } = await runPass(artifacts.services);
    assert.equal(end, "refused");
    assert.ok(reason?.includes(stored.key), reason ?? "");
    const taken = await runProgram(["storage", "own", "--take-over"], artifacts.env);
    assert.equal(taken.code, 0, taken.output);
    assert.equal((await runPass(artifacts.services)).end, "complete");
    assert.equal((await readdir(marks)).length, 1);
  });

  it("is not mistaken for one by an upload whose tenant was erased meanwhile, whose bytes go", async () => {
    const bytes = Buffer.from("an upload under way");
    const wanted = artifacts.newObject(bytes);
    async function* eraseMeanwhile() {
      await artifacts.pool.query("DELETE FROM postern.stored_objects WHERE id = $1", [wanted.id]);
      yield bytes;
    }
    const uploaded = await uploadObject(artifacts.services, wanted, () => Readable.from(eraseMeanwhile()));
    assert.equal(uploaded, null);
    const { objects } = await artifacts.services.bucket.list({ after: null, limit: 1000 });
    assert.ok(objects.every(({ key }) => !key.includes(wanted.deliveryId)));
    assert.equal((await runPass(artifacts.services)).end, "complete");
  });
});
