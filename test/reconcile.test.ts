/** Rows and objects made to differ in every way, then compared: a real database, a real folder. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { StoreUnavailableError } from "../src/storage/bytes/bucket.ts";
import type { LinkProbes } from "../src/storage/library/link-probes.ts";
import { runPass } from "../src/storage/upkeep/reconcile-pass.ts";
import { forgetOldStorage } from "../src/storage/upkeep/reconcile-store.ts";
import { expireDue, reconcileOnce } from "../src/storage/upkeep/storage-upkeep.ts";
import { openArtifacts, type Artifacts } from "./support/artifacts.ts";

let artifacts: Artifacts;

const unreachable = () => Promise.reject(new StoreUnavailableError("a signed link could not be tried"));

before(async () => {
  artifacts = await openArtifacts();
});
after(() => artifacts.close());
beforeEach(() => artifacts.reset());

describe("comparing rows with the bucket", () => {
  it("leaves alone what agrees", async () => {
    const artifact = await artifacts.store("available");
    const [first, second] = await artifacts.agedPasses();
    assert.deepEqual([first.decisions, second.decisions], [{}, {}]);
    assert.equal(await artifacts.stateOf(artifact), "available");
  });

  it("takes what is younger than a quarter of an hour for being under way", async () => {
    const artifact = await artifacts.store("available");
    await rm(artifact.place);
    await artifacts.storeOrphan();
    assert.deepEqual((await runPass(artifacts.services)).decisions, { in_flight: 2 });
    assert.equal((await artifacts.pool.query("SELECT FROM postern.storage_marks")).rowCount, 0);
  });

  it("finds an artifact missing only hours after the first suspicion, and tells its tenant once", async () => {
    const artifact = await artifacts.store("available");
    await rm(artifact.place);
    await artifacts.age();
    assert.deepEqual((await runPass(artifacts.services)).decisions, { suspect: 1 });
    assert.deepEqual((await runPass(artifacts.services)).decisions, { suspect: 1 });
    assert.equal(await artifacts.stateOf(artifact), "available");
    await artifacts.age();
    assert.deepEqual((await runPass(artifacts.services)).decisions, { missing: 1 });
    assert.equal(await artifacts.stateOf(artifact), "missing");
    await artifacts.age();
    assert.deepEqual((await runPass(artifacts.services)).decisions, {});
    assert.deepEqual(await artifacts.toldTenants(), [
      { type: "storage.object.missing", object_id: artifact.id },
    ]);
  });

  it("gives up an upload that never came", async () => {
    const artifact = await artifacts.store("pending");
    await rm(artifact.place);
    await artifacts.agedPasses();
    assert.equal(await artifacts.stateOf(artifact), "missing");
  });

  it("finishes an upload whose process died before it was opened, at the first look", async () => {
    const artifact = await artifacts.store("pending");
    await artifacts.age();
    const { finished } = await runPass(artifacts.services);
    assert.deepEqual([finished, await artifacts.stateOf(artifact)], [1, "available"]);
    const { rows } = await artifacts.pool.query(
      "SELECT extract(day FROM deadline - available_at)::int AS days FROM postern.stored_objects",
    );
    assert.deepEqual(rows, [{ days: artifacts.services.planDays }]);
    assert.deepEqual((await runPass(artifacts.services)).decisions, { recovered: 1 });
  });

  it("finishes an upload whose process died before it was recorded, for as long as the tenant chose", async () => {
    const { artifact, upload } = await artifacts.storeUnrecorded();
    await artifacts.pool.query(
      "INSERT INTO postern.tenant_settings (tenant_id, artifact_days) VALUES ('acme', 3)",
    );
    const passes = await artifacts.agedPasses();
    assert.deepEqual(
      passes.map(({ finished }) => finished),
      [1, 0],
    );
    assert.equal(await artifacts.stateOf(artifact), "available");
    const { rows } = await artifacts.pool.query(
      `SELECT version_id, extract(day FROM deadline - available_at)::int AS days FROM postern.stored_objects`,
    );
    assert.deepEqual(rows, [{ version_id: upload.versionId, days: 3 }]);
  });

  it("leaves an upload to its process for a quarter of an hour, and an export to its run", async () => {
    const { artifact } = await artifacts.storeUnrecorded();
    assert.equal((await runPass(artifacts.services)).finished, 0);
    assert.equal(await artifacts.stateOf(artifact), "pending");
    await artifacts.reset();
    const { artifact: archive } = await artifacts.storeUnrecorded("export");
    await artifacts.age();
    assert.equal((await runPass(artifacts.services)).finished, 0);
    assert.equal(await artifacts.stateOf(archive), "pending");
  });

  it("never makes an upload downloadable whose links nobody could try, or that failed the trial", async () => {
    const artifact = await artifacts.store("pending");
    const away = { ...artifacts.services, probes: { ...artifacts.services.probes, sample: unreachable } };
    const [first, second] = await artifacts.agedPasses(away);
    assert.deepEqual([first.decisions, second.decisions], [{ suspect: 1 }, { awaiting: 1 }]);
    assert.deepEqual([first.refusal, second.refusal], Array(2).fill("a signed link could not be tried"));
    assert.equal(await artifacts.stateOf(artifact), "pending");
    const { probes } = artifacts.services;
    const careless: LinkProbes["sample"] = async (object, now) =>
      (await probes.run(object, now)).map(({ probe, status }) => ({
        probe,
        status: probe === "tampered_get" ? 200 : status,
      }));
    const bad = { ...artifacts.services, probes: { ...probes, sample: careless } };
    const { finished, refusal } = await runPass(bad);
    assert.equal(finished, 0);
    assert.match(
      refusal ?? "",
      /PROBE_FAILED.*tampered_get was answered 200 instead of 403.*must not be public/,
    );
    assert.equal(await artifacts.stateOf(artifact), "pending");
    assert.equal((await runPass(artifacts.services)).finished, 1);
    assert.equal(await artifacts.stateOf(artifact), "available");
  });

  it("does not finish an upload of other bytes than the row describes", async () => {
    const { artifact } = await artifacts.storeUnrecorded();
    await writeFile(artifact.place, "somebody else's bytes");
    await artifacts.agedPasses();
    assert.equal(await artifacts.stateOf(artifact), "quarantined");
  });

  it("quarantines other bytes than those that were stored, and keeps them", async () => {
    const artifact = await artifacts.store("available");
    await writeFile(artifact.place, "somebody else's bytes");
    await artifacts.agedPasses();
    assert.equal(await artifacts.stateOf(artifact), "quarantined");
    assert.equal(await readFile(artifact.place, "utf8"), "somebody else's bytes");
  });

  it("heals what is as it was, and tells the tenant", async () => {
    const artifact = await artifacts.store("available");
    await rename(artifact.place, `${artifacts.dataDir}/kept`);
    await artifacts.agedPasses();
    assert.equal(await artifacts.stateOf(artifact), "missing");
    await mkdir(dirname(artifact.place), { recursive: true });
    await rename(`${artifacts.dataDir}/kept`, artifact.place);
    await artifacts.agedPasses();
    assert.equal(await artifacts.stateOf(artifact), "available");
    assert.deepEqual(
      (await artifacts.toldTenants()).map((told) => JSON.stringify(told)).toSorted(),
      ["healed", "missing"].map((what) =>
        JSON.stringify({ type: `storage.object.${what}`, object_id: artifact.id }),
      ),
    );
  });

  it("forgets a suspicion that has passed", async () => {
    const artifact = await artifacts.store("available");
    await rename(artifact.place, `${artifacts.dataDir}/kept`);
    await artifacts.age();
    await runPass(artifacts.services);
    await mkdir(dirname(artifact.place), { recursive: true });
    await rename(`${artifacts.dataDir}/kept`, artifact.place);
    await artifacts.age();
    assert.deepEqual((await runPass(artifacts.services)).decisions, { recovered: 1 });
    assert.equal((await artifacts.pool.query("SELECT FROM postern.storage_marks")).rowCount, 0);
    assert.equal(await artifacts.stateOf(artifact), "available");
  });

  it("deletes an object without a row, at the second look", async () => {
    const key = await artifacts.storeOrphan();
    const [first, second] = await artifacts.agedPasses();
    assert.deepEqual([first.decisions, second.decisions], [{ suspect: 1 }, { purge: 1 }]);
    assert.ok(!existsSync(artifacts.placeOf(key)));
    assert.deepEqual(await artifacts.toldTenants(), []);
  });

  it("deletes the bytes of what expired, and then calls it purged", async () => {
    const artifact = await artifacts.store("available");
    await artifacts.pool.query("UPDATE postern.stored_objects SET deadline = now() - interval '1 second'");
    assert.equal(await expireDue(artifacts.services.db), 1);
    assert.equal(await expireDue(artifacts.services.db), 0);
    assert.equal(await artifacts.stateOf(artifact), "expired");
    assert.ok(existsSync(artifact.place));
    const [first, second] = await artifacts.agedPasses();
    assert.deepEqual([first.decisions, second.decisions], [{ purge: 1 }, { purged: 1 }]);
    assert.ok(!existsSync(artifact.place));
    assert.equal(await artifacts.stateOf(artifact), "purged");
  });

  it("deletes what appears under the key of a purged artifact, as it has no row that wants it", async () => {
    const artifact = await artifacts.store("purged");
    const [first, second] = await artifacts.agedPasses();
    assert.deepEqual([first.decisions, second.decisions], [{ suspect: 1 }, { purge: 1 }]);
    assert.ok(!existsSync(artifact.place));
    assert.equal(await artifacts.stateOf(artifact), "purged");
  });

  it("keeps other bytes that lie where those of an expired artifact were", async () => {
    const artifact = await artifacts.store("expired");
    await writeFile(artifact.place, "somebody else's bytes");
    const [first, second] = await artifacts.agedPasses();
    assert.deepEqual([first.decisions, second.decisions], [{ deferred: 1 }, { deferred: 1 }]);
    assert.equal(await readFile(artifact.place, "utf8"), "somebody else's bytes");
    assert.equal(await artifacts.stateOf(artifact), "expired");
  });

  it("gives back what was quarantined when its own bytes are there again", async () => {
    const artifact = await artifacts.store("available");
    const own = await readFile(artifact.place);
    await writeFile(artifact.place, "somebody else's bytes");
    await artifacts.agedPasses();
    assert.equal(await artifacts.stateOf(artifact), "quarantined");
    await writeFile(artifact.place, own);
    await artifacts.age();
    assert.deepEqual((await runPass(artifacts.services)).decisions, { healed: 1 });
    assert.equal(await artifacts.stateOf(artifact), "available");
  });

  it("expires nothing that is held", async () => {
    const artifact = await artifacts.store("available");
    await artifacts.pool.query(
      "UPDATE postern.stored_objects SET hold = true, deadline = now() - interval '1 second'",
    );
    assert.equal(await expireDue(artifacts.services.db), 0);
    assert.equal(await artifacts.stateOf(artifact), "available");
  });

  it("reports what is not its own, and leaves it alone", async () => {
    await writeFile(artifacts.placeOf("read-me.txt"), "not ours");
    const [first, second] = await artifacts.agedPasses();
    assert.deepEqual([first.decisions, second.decisions], [{ ignored: 1 }, { ignored: 1 }]);
    assert.ok(existsSync(artifacts.placeOf("read-me.txt")));
  });
});

async function exportOf({ delivery_id }: { delivery_id: string }, status: string, attempt: number) {
  await artifacts.pool.query(
    `INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at, status, attempt)
      VALUES ('acme', $1, 'ada', now() - interval '1 day', now(), $2, $3)`,
    [delivery_id, status, attempt],
  );
}

async function forget(days = 30): Promise<number> {
  return forgetOldStorage(artifacts.services.db, days);
}

describe("what is over", () => {
  it("among archives are those that their runs gave up: row and bytes go", async () => {
    const current = await artifacts.storeUnrecorded("export");
    const superseded = await artifacts.storeUnrecorded("export");
    const failed = await artifacts.storeUnrecorded("export");
    await exportOf(current.row, "running", 1);
    await exportOf(superseded.row, "running", 2);
    await exportOf(failed.row, "failed", 1);
    assert.equal(await forget(), 0);
    await artifacts.age();
    // Whatever comparing made of it in the meantime.
    await artifacts.pool.query("UPDATE postern.stored_objects SET state = 'quarantined' WHERE id = $1", [
      failed.row.id,
    ]);
    assert.equal(await forget(), 2);
    await artifacts.agedPasses();
    assert.deepEqual(
      [current, superseded, failed].map(({ artifact }) => existsSync(artifact.place)),
      [true, false, false],
    );
    const { rows } = await artifacts.pool.query("SELECT id FROM postern.stored_objects");
    assert.deepEqual(rows, [{ id: current.row.id }]);
  });

  it("is remembered for as long as the log, and then forgotten, the last number excepted", async () => {
    const purged = await artifacts.store("purged");
    const lost = await artifacts.store("available");
    await rm(purged.place);
    await rm(lost.place);
    await artifacts.agedPasses();
    await artifacts.pool.query(
      `INSERT INTO postern.storage_grants (tenant_id, id, object_id, user_id, issued_at, expires_at)
        VALUES ('acme', gen_random_uuid(), $1, gen_random_uuid(), now(), now())`,
      [purged.id],
    );
    assert.equal(await forget(), 0);
    for (const [table, column] of [
      ["stored_objects", "state_since"],
      ["storage_grants", "expires_at"],
      ["storage_events", "at"],
    ]) {
      await artifacts.pool.query(`UPDATE postern.${table} SET ${column} = ${column} - interval '31 days'`);
    }
    assert.equal(await forget(32), 0);
    assert.equal(await forget(), 3);
    const { rows } = await artifacts.pool.query("SELECT sequence, type FROM postern.storage_events");
    assert.deepEqual(rows, [{ sequence: 2, type: "object.missing" }]);
    assert.equal(await artifacts.stateOf(lost), "missing");
    assert.equal(await forget(), 0);
  });
});

describe("a pass", () => {
  it("that would destroy too much stops, stays stopped, and goes on when an operator says so", async () => {
    const keys = await Promise.all(Array.from({ length: 25 }, () => artifacts.storeOrphan()));
    const [, second] = await artifacts.agedPasses();
    assert.equal(second.end, "halted");
    assert.equal((await runPass(artifacts.services)).end, "halted");
    assert.ok(keys.every((key) => existsSync(artifacts.placeOf(key))));
    const wrong = await runPass(artifacts.services, { acknowledged: "0".repeat(64) });
    assert.equal(wrong.end, "unapproved");
    const { destruction } = await runPass(artifacts.services, { isDryRun: true });
    assert.equal(destruction.number, 25);
    const acknowledged = await runPass(artifacts.services, { acknowledged: destruction.digest });
    assert.deepEqual([acknowledged.end, acknowledged.decisions], ["complete", { purge: 25 }]);
    assert.ok(keys.every((key) => !existsSync(artifacts.placeOf(key))));
    assert.equal((await runPass(artifacts.services)).end, "complete");
  });

  it("changes nothing as a dry run, and tells what it would do", async () => {
    const artifact = await artifacts.store("available");
    await rm(artifact.place);
    await artifacts.storeOrphan();
    await artifacts.age();
    await runPass(artifacts.services);
    await artifacts.storeUnrecorded();
    await artifacts.age();
    const earlier = await artifacts.everything();
    const { decisions } = await runPass(artifacts.services, { isDryRun: true });
    assert.deepEqual(decisions, { missing: 1, purge: 1, suspect: 1 });
    assert.equal(await artifacts.everything(), earlier);
  });

  it("takes a volume that is not there for nobody's loss", async () => {
    const artifact = await artifacts.store("available");
    await rename(join(artifacts.dataDir, "storage"), join(artifacts.dataDir, "away"));
    const [first, second] = await artifacts.agedPasses();
    assert.deepEqual([first.end, second.end], ["refused", "refused"]);
    assert.match(first.reason ?? "", /The owner mark of the bucket artifacts is gone/);
    assert.equal(await artifacts.stateOf(artifact), "available");
    await rename(join(artifacts.dataDir, "away"), join(artifacts.dataDir, "storage"));
    assert.deepEqual((await runPass(artifacts.services)).decisions, {});
  });

  it("changes nothing when the bucket cannot be listed", async () => {
    await artifacts.store("available");
    await artifacts.age();
    const earlier = await artifacts.everything();
    const bucket = {
      ...artifacts.services.bucket,
      list: () => Promise.reject(new StoreUnavailableError("the store is away")),
    };
    await assert.rejects(runPass({ ...artifacts.services, bucket }), StoreUnavailableError);
    assert.equal(await artifacts.everything(), earlier);
  });

  it("that was interrupted goes on behind the last page, and meets each key once", async () => {
    for (let n = 0; n < 600; n++) await artifacts.storeOrphan();
    await artifacts.age();
    const stop = new AbortController();
    const seen: string[] = [];
    const onPage = ({ result }: { result: { output: { decisions: { key: string }[] } } }) => {
      seen.push(...result.output.decisions.map(({ key }) => key));
      stop.abort();
    };
    assert.equal((await runPass(artifacts.services, { signal: stop.signal, onPage })).end, "interrupted");
    assert.equal((await runPass(artifacts.services, { onPage })).end, "complete");
    assert.equal(seen.length, 600);
    assert.deepEqual(seen, [...new Set(seen)].toSorted());
  });

  it("is one process's at a time", async () => {
    await artifacts.store("available");
    const gate = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    const bucket = {
      ...artifacts.services.bucket,
      async list(page: { after: string | null; limit: number }) {
        entered.resolve();
        await gate.promise;
        return artifacts.services.bucket.list(page);
      },
    };
    const first = reconcileOnce({ ...artifacts.services, bucket });
    await entered.promise;
    const second = await reconcileOnce(artifacts.services);
    gate.resolve();
    assert.equal(second, null);
    assert.equal((await first)?.end, "complete");
    assert.equal((await reconcileOnce(artifacts.services))?.end, "complete");
  });
});
