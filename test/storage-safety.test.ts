/** What comparing may destroy, where it goes, and what is given back to rows that lost it: in a real folder. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { after, before, beforeEach, describe, it } from "node:test";
import { readConfig } from "../src/config.ts";
import { storageWork } from "../src/service/storage-parts.ts";
import { StoreUnavailableError } from "../src/storage/bytes/bucket.ts";
import { storageTenantId } from "../src/storage/rows/storage-ids.ts";
import { deleteObjects } from "../src/storage/upkeep/delete-objects.ts";
import { runPass, type PassSummary } from "../src/storage/upkeep/reconcile-pass.ts";
import { makeStorageUpkeep } from "../src/storage/upkeep/storage-upkeep.ts";
import { makeLog, type Log } from "../src/telemetry/log.ts";
import { makeMetrics, type Metrics } from "../src/telemetry/metrics.ts";
import { openArtifacts, type Artifact, type Artifacts } from "./support/artifacts.ts";
import { newKey } from "./support/bucket-contract.ts";
import { runProgram } from "./support/program.ts";
import { runHere } from "./support/command.ts";
import { eventually } from "./support/eventually.ts";
import { tenant } from "./support/two-tenants.ts";

let artifacts: Artifacts;

before(async () => {
  artifacts = await openArtifacts();
});
after(() => artifacts.close());
beforeEach(() => artifacts.reset());

const pass = () => runPass(artifacts.services);
const run = (...args: string[]) => runProgram(["storage", ...args], artifacts.env);

/** Rows that are removed from the database, so that their objects have none. */
async function forgetRows(count: number): Promise<Artifact[]> {
  const stored = await Promise.all(Array.from({ length: count }, () => artifacts.store("available")));
  await artifacts.pool.query("DELETE FROM postern.stored_objects WHERE id = ANY ($1)", [
    stored.map(({ id }) => id),
  ]);
  return stored;
}

async function agedPass(): Promise<PassSummary> {
  await artifacts.age();
  return pass();
}

describe("how much may be destroyed", () => {
  it("is bounded over all pages of a pass, by what is known", async () => {
    const uuid = "-0000-4000-8000-000000000000";
    const early = await Promise.all([1, 2, 3].map((n) => artifacts.storeOrphan(`0000000${n}${uuid}`)));
    const late = await Promise.all([1, 2, 3].map((n) => artifacts.storeOrphan(`f000000${n}${uuid}`)));
    for (let n = 0; n < 300; n++) await writeFile(artifacts.placeOf(`v1/t/8${n}`), "another's file");
    const [, second] = await artifacts.agedPasses();
    assert.equal(second.end, "halted");
    assert.equal(second.reason, "the pass would destroy 6 artifacts, and of 0 known ones 5 are allowed");
    assert.ok(early.every((key) => !existsSync(artifacts.placeOf(key))));
    assert.ok(late.every((key) => existsSync(artifacts.placeOf(key))));
  });

  it("is bounded by what is still there to be destroyed", async () => {
    await Promise.all(Array.from({ length: 30 }, () => artifacts.store("purged")));
    await rm(join(artifacts.dataDir, "storage", "objects", "v1"), { recursive: true });
    const stored = await Promise.all(Array.from({ length: 6 }, () => artifacts.store("available")));
    for (const { place } of stored) await rm(place);
    const [, second] = await artifacts.agedPasses();
    assert.equal(second.reason, "the pass would destroy 6 artifacts, and of 6 known ones 5 are allowed");
  });

  it("is bounded over the passes of a day, in the database that all processes share", async () => {
    await Promise.all(Array.from({ length: 30 }, () => artifacts.store("available")));
    const ends: string[] = [];
    for (const count of [7, 7, 2]) {
      await forgetRows(count);
      await agedPass();
      ends.push((await agedPass()).end);
    }
    assert.deepEqual(ends, ["complete", "complete", "halted"]);
    const { reason } = await pass();
    assert.equal(reason, "24 hours would destroy 16 artifacts, and of 30 known ones 15 are allowed");
    await artifacts.pool.query("UPDATE postern.storage_destroyed SET at = at - interval '1 day'");
    assert.equal((await pass()).end, "halted");
  });

  it("is gone beyond by approving one dry run, and nothing that came later", async () => {
    const approved = await forgetRows(8);
    assert.equal((await artifacts.agedPasses())[1].end, "halted");
    const dry = await run("reconcile", "--dry-run");
    assert.match(dry.output, /A pass would stop: the pass would destroy 8 artifacts/);
    const digest = /8 results destroy something\. To do exactly this: --acknowledge ([0-9a-f]{64})/.exec(
      dry.output,
    )?.[1];
    assert.ok(digest !== undefined, dry.output);

    const [lost] = await Promise.all([artifacts.store("available"), artifacts.store("available")]);
    await rm(lost.place);
    await artifacts.pool.query(
      `INSERT INTO postern.storage_marks (tenant_id, bucket, key, class, first_seen_at, run_id)
        VALUES ('acme', 'artifacts', $1, 'row_without_object', now() - interval '3 hours', gen_random_uuid())`,
      [lost.key],
    );
    await artifacts.age();
    const stale = await run("reconcile", "--acknowledge", digest);
    assert.equal(stale.code, 1);
    assert.match(stale.output, /is not what that dry run showed/);
    assert.ok(approved.every(({ place }) => existsSync(place)));
    assert.equal(await artifacts.stateOf(lost), "available");

    assert.equal((await run("reconcile", "--acknowledge", "yes")).code, 1);
    const { destruction } = await runPass(artifacts.services, { isDryRun: true });
    assert.equal(destruction.number, 9);
    const real = await run("reconcile", "--acknowledge", destruction.digest);
    assert.equal(real.code, 0, real.output);
    assert.ok(approved.every(({ place }) => !existsSync(place)));
    assert.equal(await artifacts.stateOf(lost), "missing");
  });
});

describe("objects that were renamed", () => {
  it("are given back to the rows that lost them, and only then are in the way", async () => {
    const stored = await Promise.all(Array.from({ length: 5 }, () => artifacts.store("available")));
    const elsewhere = stored.map(() => newKey());
    for (const [index, { place }] of stored.entries()) {
      const target = artifacts.placeOf(elsewhere[index] ?? "");
      await mkdir(dirname(target), { recursive: true });
      await rename(place, target);
    }
    assert.deepEqual((await agedPass()).decisions, { suspect: 10 });
    await artifacts.age();
    const dry = await runPass(artifacts.services, { isDryRun: true });
    assert.equal(dry.decisions.purge, undefined);
    const second = await pass();
    assert.deepEqual([second.relinked, second.decisions], [5, { recovered: 5, in_flight: 5 }]);
    assert.ok(stored.every(({ place }) => existsSync(place)));
    assert.ok(elsewhere.every((key) => existsSync(artifacts.placeOf(key))));
    assert.deepEqual((await agedPass()).decisions, { purge: 5 });
    assert.ok((await Promise.all(stored.map(artifacts.stateOf))).every((state) => state === "available"));
    assert.equal((await artifacts.pool.query("SELECT FROM postern.events")).rowCount, 0);
  });

  it("heal rows that were found missing long before", async () => {
    const artifact = await artifacts.store("available");
    await rename(artifact.place, join(artifacts.dataDir, "kept"));
    await artifacts.agedPasses();
    assert.equal(await artifacts.stateOf(artifact), "missing");
    const target = artifacts.placeOf(newKey());
    await mkdir(dirname(target), { recursive: true });
    await rename(join(artifacts.dataDir, "kept"), target);
    await artifacts.agedPasses();
    await agedPass();
    assert.equal(await artifacts.stateOf(artifact), "available");
  });

  it("are kept while the row's own place is taken by other bytes", async () => {
    const artifact = await artifacts.store("available");
    const [key, place] = [newKey(), artifact.place];
    await mkdir(dirname(artifacts.placeOf(key)), { recursive: true });
    await rename(place, artifacts.placeOf(key));
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, "somebody else's bytes");
    await artifacts.agedPasses();
    assert.ok(existsSync(artifacts.placeOf(key)));
  });
});

const QUICKLY = { expireEveryMs: 86_400_000, firstPassAfterMs: 0, reconcileEveryMs: 50 };

/** A worker's upkeep whose passes follow each other at once. */
function quickUpkeep(log: Log, metrics: Metrics) {
  const days = { retentionDays: 30, trashDays: 30 };
  return makeStorageUpkeep({ ...artifacts.services, ...days, log, metrics, times: QUICKLY });
}

async function filesInTrash() {
  const trash = join(artifacts.dataDir, "storage", "postern", "trash");
  // Its folders go with the last file.
  const found = await readdir(trash, { recursive: true, withFileTypes: true }).catch(() => []);
  return found.filter((file) => file.isFile());
}

/** Makes the files there as old as that, in days, one after the other. */
async function ageTrash(...days: number[]): Promise<string[]> {
  const files = await filesInTrash();
  return Promise.all(
    days.map(async (age, place) => {
      const file = files[place];
      assert.ok(file !== undefined);
      const name = new Date(Date.now() - age * 86_400_000).toISOString().replaceAll(/[-:]/g, "");
      await rename(join(file.parentPath, file.name), join(file.parentPath, name));
      return name;
    }),
  );
}

describe("the trash", () => {
  it("takes objects without a row, lists them, and gives them back", async () => {
    const key = await artifacts.storeOrphan();
    const other = await artifacts.storeOrphan();
    await artifacts.agedPasses();
    assert.ok(!existsSync(artifacts.placeOf(key)));
    const listed = await run("trash", "list", "--json");
    assert.deepEqual(
      JSON.parse(listed.printed).map((entry: { key: string; size: number }) => [entry.key, entry.size]),
      [key, other].toSorted().map((one) => [one, "an orphan".length]),
    );
    assert.equal((await run("trash", "restore")).code, 1);
    const restored = await run("trash", "restore", "--key", key);
    assert.match(restored.printed, /^1 restored/);
    assert.ok(existsSync(artifacts.placeOf(key)));
    const again = await run("trash", "restore", "--key", key);
    assert.equal(again.code, 1);
    assert.match(again.output, /the trash has no object that had this key: `postern storage trash list`/);
    assert.match((await run("trash", "list")).output, /1 in the trash/);
    await artifacts.services.bucket.put({
      key: other,
      size: 0,
      sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      open: () => Readable.from([]),
    });
    const taken = await run("trash", "restore", "--all");
    assert.match(taken.printed, /an object has this key\n0 restored\n$/);
    assert.equal(taken.code, 1);
  });

  it("tells what was given back, though the store refuses the rest", async () => {
    const keys = [await artifacts.storeOrphan(), await artifacts.storeOrphan()].toSorted();
    await artifacts.agedPasses();
    // A file where the folder of the second one's tenant would be.
    const place = artifacts.placeOf(keys[1]?.split("/").slice(0, 3).join("/") ?? "");
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, "");
    const { code, printed, errors } = await run("trash", "restore", "--all");
    assert.equal(code, 1);
    assert.match(printed, /^1 restored/, errors);
  });

  it("is emptied by hand, and by a worker after the days of TRASH_DAYS", async () => {
    await artifacts.storeOrphan();
    await artifacts.storeOrphan();
    await artifacts.agedPasses();
    assert.match((await run("trash", "empty", "--all")).output, /add --yes/);
    const [, kept] = await ageTrash(8, 6);
    const metrics = makeMetrics();
    const { services, env } = artifacts;
    const parts = storageWork(services, {
      config: readConfig({ ...env, TRASH_DAYS: "7" }),
      tenants: services.tenants,
      eraseElsewhere: null,
      times: QUICKLY,
      log: makeLog("silent"),
      metrics,
    });
    for (const part of parts) part.start();
    const passes = async () =>
      (await metrics.registry.metrics()).includes("completed_timestamp_seconds 1") &&
      (await filesInTrash()).length < 2;
    try {
      await eventually(passes);
    } finally {
      await Promise.all(parts.map((part) => part.stop()));
    }
    assert.deepEqual(
      (await filesInTrash()).map(({ name }) => name),
      [kept],
    );
    assert.match(await metrics.registry.metrics(), /storage_trash_emptied_total 1/);
    const emptied = async (days: string) =>
      (await runHere(["storage", "trash", "empty", "--days", days, "--yes"], env)).printed;
    assert.deepEqual(
      [await emptied("10"), await emptied("5")],
      ["0 deleted for good\n", "1 deleted for good\n"],
    );
  });

  it("keeps everything while a worker's passes stop, for then nobody knows what is wrong", async () => {
    await artifacts.storeOrphan();
    await artifacts.agedPasses();
    await ageTrash(2000);
    await Promise.all(Array.from({ length: 25 }, () => artifacts.storeOrphan()));
    await artifacts.agedPasses();
    let stopped = 0;
    const log = Object.assign(makeLog("silent"), { error: () => void stopped++ });
    const upkeep = quickUpkeep(log, makeMetrics());
    upkeep.start();
    // The second begins when the first is over.
    try {
      await eventually(async () => stopped >= 2);
    } finally {
      await upkeep.stop();
    }
    assert.equal((await filesInTrash()).length, 1);
  });
});

describe("a held artifact", () => {
  it("is not purged, though it has expired, and not erased with its tenant", async () => {
    const expired = await artifacts.store("expired");
    await artifacts.pool.query("UPDATE postern.stored_objects SET hold = true");
    const [first, second] = await artifacts.agedPasses();
    assert.deepEqual([first.decisions, second.decisions], [{ in_flight: 1 }, { in_flight: 1 }]);
    const erased = await run("erase", "--tenant", "acme", "--all", "--yes");
    assert.match(erased.output, new RegExp(`left +${expired.id} .*it is held`));
    assert.ok(existsSync(expired.place));
  });

  it("is not deleted, though its hold came after its page was read", async () => {
    const artifact = await artifacts.store("available");
    const { bucket, db } = artifacts.services;
    const head = await bucket.head({ bucket: bucket.name, key: artifact.key, version_id: null });
    assert.ok(head.found && head.version_id !== null);
    const [op, target] = ["delete", "object"] as const;
    const deletes = [{ op, target, bucket: bucket.name, key: artifact.key, version_id: head.version_id }];
    const held = (hold: boolean) =>
      artifacts.pool.query("UPDATE postern.stored_objects SET hold = $1", [hold]);
    const page = { now: "2026-03-10T12:00:00.000Z", decisions: [] };
    await held(true);
    assert.equal(await deleteObjects({ db, bucket }, deletes, page), 0);
    assert.ok(existsSync(artifact.place));
    await held(false);
    assert.equal(await deleteObjects({ db, bucket }, deletes, page), 0);
    assert.ok(!existsSync(artifact.place));
  });
});

describe("a tenant's erasure", () => {
  it("takes its part of the trash and what lies there without a row, and no other tenant's", async () => {
    const own = storageTenantId(tenant("acme"));
    await artifacts.storeOrphan(own);
    const foreign = await artifacts.storeOrphan();
    await artifacts.agedPasses();
    const orphan = await artifacts.storeOrphan(own);
    const gone = await artifacts.store("expired");
    const pending = await artifacts.store("pending");
    const { code, output, printed } = await run("erase", "--tenant", "acme", "--all", "--yes", "--json");
    assert.equal(code, 1, output);
    const { erased, left, remains } = JSON.parse(printed);
    assert.deepEqual(
      erased.map(({ id, bytes }: { id: string; bytes: string }) => [id, bytes]),
      [[gone.id, "deleted"]],
    );
    assert.deepEqual(
      left.map(({ id }: { id: string }) => id),
      [pending.id],
    );
    assert.deepEqual(remains, { bodies: 0, versions: 1, trash: 1, reason: null });
    assert.ok(!existsSync(artifacts.placeOf(orphan)));
    assert.ok(existsSync(pending.place));
    assert.match((await run("trash", "list")).printed, new RegExp(`${foreign}\n1 in the trash`));
  });
});

describe("objects whose rows are lost", () => {
  it("are adopted once their tenant is named, with the days that they had left", async () => {
    const stored = await Promise.all([artifacts.store("available"), artifacts.store("available")]);
    await artifacts.pool.query("DELETE FROM postern.stored_objects");
    await artifacts.age();
    assert.match((await run("adopt")).output, /its tenant is unknown[^]*^0 adopted, 2 left/m);
    assert.match((await run("adopt", "--tenants", "acme!")).output, /acme! is no tenant id/);
    const { code, output } = await run("adopt", "--tenants", "acme,globex");
    assert.equal(code, 0, output);
    assert.match(output, /^2 adopted, 0 left/m);
    const { rows } = await artifacts.pool.query(
      `SELECT key, state, tenant_id, available_at < now() - interval '2 hours' AS is_older,
          extract(day FROM deadline - available_at)::int AS days
        FROM postern.stored_objects ORDER BY key`,
    );
    assert.deepEqual(
      rows,
      stored
        .map(({ key }) => ({ key, state: "available", tenant_id: "acme", is_older: true, days: 30 }))
        .toSorted((left, right) => (left.key < right.key ? -1 : 1)),
    );
    await artifacts.age();
    assert.deepEqual((await pass()).decisions, {});
  });
});

describe("uploads that a process which died left", () => {
  it("are left to the next pass after the first link that cannot be tried", async () => {
    await Promise.all([artifacts.store("pending"), artifacts.store("pending")]);
    await artifacts.age();
    let tried = 0;
    const sample = () => {
      tried++;
      return Promise.reject(new StoreUnavailableError("a signed link could not be tried"));
    };
    await runPass({ ...artifacts.services, probes: { ...artifacts.services.probes, sample } });
    assert.equal(tried, 1);
  });
});
