import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { makeKeptLog } from "../../../test/support/kept-log.ts";
import {
  answering,
  away,
  inPages,
  eachStored,
  openStored,
  slip,
  sortedIds,
  type Stored,
} from "../../../test/support/stored.ts";
import { makeMetrics } from "../../telemetry/metrics.ts";
import { DAY_MS } from "../rules/instants.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { OWNER_PREFIX, ownerKey } from "../bytes/own-keys.ts";
import type { LinkProbes } from "../library/link-probes.ts";
import { readBucket } from "./owner-store.ts";
import { checkOwner } from "./ownership.ts";
import { readCursor } from "./reconcile-store.ts";
import {
  expireDue,
  isOwnBucket,
  makeStorageUpkeep,
  readReconcileState,
  reconcileOnce,
} from "./storage-upkeep.ts";
import { listTrash, moveToTrash } from "./trash.ts";

/** Each work once, at the start. */
const ONCE = { expireEveryMs: DAY_MS, firstPassAfterMs: 0, reconcileEveryMs: DAY_MS };

let stored: Stored;
let databaseUrl: string;
eachStored((...opened) => ([stored, databaseUrl] = opened));

const lock = () => ({ url: databaseUrl, applicationName: "upkeep test", connectionTimeoutMs: 5000 });

/** So many artifacts like that one, of whose rows alone the test is. */
async function storeMany(count: number): Promise<void> {
  await stored.store();
  await stored.db.query(
    `INSERT INTO postern.stored_objects
      SELECT (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'key', o.key || n))).*
      FROM postern.stored_objects o, generate_series(2, $2) n WHERE o.bucket = $1`,
    [stored.bucket.name, count],
  );
}

async function dueSince(interval: string): Promise<void> {
  await stored.db.query(
    `UPDATE postern.stored_objects SET deadline = now() - $2::interval WHERE bucket = $1`,
    [stored.bucket.name, interval],
  );
}

describe("what has come to its deadline", () => {
  it("is closed whole, also where that is more than one statement takes", async () => {
    await storeMany(501);
    const held = await stored.store({ isHeld: true });
    await dueSince("1 s");
    const later = await stored.store();
    assert.equal(await expireDue(stored.db), 501);
    assert.equal(await expireDue(stored.db), 0);
    assert.deepEqual(await Promise.all([held, later].map(stored.stateOf)), ["available", "available"]);
    assert.deepEqual((await readReconcileState({ db: stored.db, bucket: stored.bucket })).states, {
      available: 2,
      expired: 501,
    });
  });

  it("is left to the next round where nothing of it can be changed", async () => {
    await storeMany(500);
    await dueSince("1 s");
    await stored.db.query(`CREATE FUNCTION postern.leave() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RETURN NULL; END $$;
      CREATE TRIGGER leave BEFORE UPDATE ON postern.stored_objects FOR EACH ROW EXECUTE FUNCTION postern.leave()`);
    assert.equal(await expireDue(stored.db), 0);
    await stored.db.query("DROP FUNCTION postern.leave CASCADE");
    assert.equal(await expireDue(stored.db), 500);
  });
});

describe("whose the bucket is", () => {
  it("is logged when that has changed, and told at each look", async () => {
    const { log, lines } = makeKeptLog();
    const look = () => isOwnBucket({ db: stored.db, bucket: stored.bucket, log });
    assert.equal(await look(), true);
    assert.deepEqual(lines, []);
    const installation = await stored.takeOver(5);
    for (let n = 0; n < 2; n++) assert.equal(await look(), false);
    assert.deepEqual(lines, [{ level: 50, bucket: stored.bucket.name }]);
    const known = await readBucket(stored.db, stored.bucket.name);
    assert.ok(known?.trouble?.includes(installation));
    await stored.takeOver(6);
    assert.equal(await look(), false);
    assert.equal(lines.length, 2);
    for (const generation of [5, 6]) await rm(join(stored.root, ownerKey(generation)));
    assert.equal(await look(), true);
    assert.equal(lines.length, 2);
  });

  it("is what was found last while the store is away, which is logged once", async () => {
    const { log, lines } = makeKeptLog();
    const told = { outage: null };
    const look = (list: Bucket["list"] = (page) => stored.bucket.list(page)) =>
      isOwnBucket({ db: stored.db, bucket: { ...stored.bucket, list }, log }, told);
    const outage = { level: 40, err: "the store is away" };
    for (let n = 0; n < 2; n++) assert.equal(await look(away), true);
    assert.deepEqual(lines, [outage]);
    assert.equal(await look(), true);
    assert.equal(await look(away), true);
    assert.deepEqual(lines, [outage, outage]);
    await stored.takeOver(5);
    assert.equal(await look(), false);
    assert.equal(await look(away), false);
    await assert.rejects(look(slip), TypeError);
  });
});

const servingAll: LinkProbes["sample"] = async () => answering({ unsigned_get: 200 });

type Given = { sample?: LinkProbes["sample"] } & Partial<Bucket>;

/** The upkeep of a worker, each work once. */
function newUpkeep({ sample = async () => answering(), ...bucket }: Given) {
  const { log, lines } = makeKeptLog();
  const metrics = makeMetrics();
  const { services } = stored;
  const upkeep = makeStorageUpkeep({
    ...services,
    bucket: { ...stored.bucket, ...bucket },
    probes: { ...services.probes, sample },
    lock: lock(),
    retentionDays: 30,
    trashDays: 7,
    log,
    metrics,
    times: ONCE,
  });
  return { upkeep, lines, metrics };
}

/**
 * Of the upkeep that is stopped at its first call of that kind for an artifact,
 * where there is work for two.
 */
async function stopAtFirst(kind: "deleteVersion" | "get", addWork: () => Promise<unknown>) {
  await addWork();
  await addWork();
  const stopped = Promise.withResolvers<void>();
  let calls = 0;
  const counting = (key: string) => {
    if (key.startsWith(OWNER_PREFIX)) return;
    if (++calls === 1) upkeep.stop().then(stopped.resolve, stopped.reject);
  };
  const { bucket } = stored;
  const { upkeep, lines, metrics } = newUpkeep({
    // A store that was not told the digest: each object is read.
    head: async (request) => {
      const head = await bucket.head(request);
      return head.found && kind === "get" && !request.key.startsWith(OWNER_PREFIX)
        ? { ...head, sha256: null }
        : head;
    },
    [kind]: (version: { key: string; versionId: string }) => {
      counting(version.key);
      return bucket[kind](version);
    },
  });
  upkeep.start();
  await stopped.promise;
  return { calls, lines, metrics: await metrics.registry.metrics() };
}

/** Ended when its log or its metrics are as wanted. */
async function keepUp({
  until,
  ...given
}: Given & {
  until: (seen: { lines: Record<string, unknown>[]; metrics: string }) => boolean | Promise<boolean>;
}) {
  const { upkeep, lines, metrics } = newUpkeep(given);
  upkeep.start();
  try {
    await eventually(async () => until({ lines, metrics: await metrics.registry.metrics() }));
  } finally {
    await upkeep.stop();
  }
  return { lines, metrics: await metrics.registry.metrics() };
}

/** The values of those, in their order, with their labels. */
function valuesOf(metrics: string, ...names: string[]): string[] {
  const isWanted = (line: string) =>
    names.some((name) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return metrics.split("\n").filter(isWanted);
}

const isCompared = ({ metrics }: { metrics: string }) =>
  /^storage_reconcile_completed_timestamp_seconds 1/m.test(metrics);

describe("the upkeep of stored artifacts", () => {
  it("expires, compares, empties the trash of what is old in it, and forgets all that is over", async () => {
    const due = await stored.store();
    await dueSince("1 s");
    // Of a bucket that is not compared here, so that the two works do not meet.
    await stored.lose(due);
    await stored.db.query("UPDATE postern.stored_objects SET bucket = 'elsewhere' WHERE id = $1", [due.id]);
    const bytes = "of an attempt";
    const lost = await stored.store({ bytes });
    await stored.lose(lost);
    for (const orphan of [await stored.orphan({ bytes }), await stored.orphan()]) {
      await stored.suspect(orphan, "object_without_row");
    }
    for (const days of [8, 6]) {
      const at = new Date(Date.now() - days * DAY_MS).toISOString();
      await moveToTrash(stored.bucket, await stored.orphan(), at);
    }
    // More than one statement forgets.
    await stored.db.query(
      `INSERT INTO postern.storage_grants (tenant_id, id, object_id, user_id, issued_at, expires_at)
        SELECT 'acme', gen_random_uuid(), $1, $1, now(), now() - interval '31 days' FROM generate_series(1, 10001)`,
      [lost.id],
    );
    const beganAtS = Date.now() / 1000;
    const isForgotten = async () => {
      const { rows } = await stored.db.query("SELECT count(*)::int AS count FROM postern.storage_grants");
      return rows[0].count === 0;
    };
    const { lines, metrics } = await keepUp({
      until: async (seen) =>
        isCompared(seen) &&
        /storage_objects_expired_total 1/.test(seen.metrics) &&
        /emptied_total 1/.test(seen.metrics) &&
        (await isForgotten()),
    });
    assert.deepEqual(valuesOf(metrics, "storage_reconcile_decisions_total").toSorted(), [
      'storage_reconcile_decisions_total{decision="in_flight"} 1',
      'storage_reconcile_decisions_total{decision="purge"} 1',
      'storage_reconcile_decisions_total{decision="relinked"} 1',
    ]);
    const [completed = ""] = valuesOf(metrics, "storage_reconcile_completed_timestamp_seconds");
    const atS = Number(completed.split(" ")[1]);
    assert.ok(atS >= beganAtS && atS <= Date.now() / 1000, completed);
    assert.deepEqual(await Promise.all([due, lost].map(stored.stateOf)), ["expired", "available"]);
    const inTrash = await Array.fromAsync(listTrash(stored.bucket));
    assert.equal(inTrash.length, 2);
    assert.deepEqual(lines, []);
  });

  it("expires and compares nothing in another's bucket, and says so", async () => {
    const due = await stored.store();
    await dueSince("1 s");
    await stored.takeOver(5);
    // Known already, so that only the pass tells of it.
    assert.notEqual(await checkOwner(stored.services), null);
    const { lines, metrics } = await keepUp({ until: ({ lines }) => lines.length === 1 });
    assert.deepEqual(lines, [{ level: 50, bucket: stored.bucket.name }]);
    assert.deepEqual(
      valuesOf(metrics, "storage_objects_expired_total", "storage_reconcile_completed_timestamp_seconds"),
      ["storage_objects_expired_total 0", "storage_reconcile_completed_timestamp_seconds 0"],
    );
    assert.equal(await stored.stateOf(due), "available");
  });

  it("tells how many objects it could not delete, and why an upload waits", async () => {
    const expired = await stored.store({ state: "expired" });
    await stored.store({ state: "pending" });
    const deleteVersion: Bucket["deleteVersion"] = (version) =>
      version.key === expired.key ? away() : stored.bucket.deleteVersion(version);
    const { lines } = await keepUp({
      deleteVersion,
      sample: servingAll,
      until: ({ lines }) => lines.length === 2,
    });
    const [undeleted, refused] = lines;
    assert.deepEqual(undeleted, { level: 40, undeleted: 1 });
    assert.match(String(refused?.["refusal"]), /PROBE_FAILED/);
    assert.equal(refused?.["level"], 40);
    assert.ok(existsSync(expired.place));
  });

  it("tells what halts it, and empties no trash then", async () => {
    await moveToTrash(stored.bucket, await stored.orphan(), "2026-03-01T12:00:00.000Z");
    for (let n = 0; n < 6; n++) await stored.suspect(await stored.orphan(), "object_without_row");
    const { lines, metrics } = await keepUp({ until: ({ lines }) => lines.length === 1 });
    const reason = "the pass would destroy 6 artifacts, and of 0 known ones 5 are allowed";
    assert.deepEqual(lines, [{ level: 50, bucket: stored.bucket.name, reason }]);
    assert.deepEqual(valuesOf(metrics, "storage_reconcile_decisions_total"), []);
    assert.deepEqual(
      valuesOf(metrics, "storage_reconcile_completed_timestamp_seconds", "storage_trash_emptied_total"),
      ["storage_trash_emptied_total 0", "storage_reconcile_completed_timestamp_seconds 0"],
    );
    assert.equal((await Array.fromAsync(listTrash(stored.bucket))).length, 1);
  });

  it("counts what failed by its name, goes on, and lets the next process compare", async () => {
    const list: Bucket["list"] = (page) => (page.prefix === undefined ? away() : stored.bucket.list(page));
    const { lines, metrics } = await keepUp({ list, until: ({ lines }) => lines.length === 1 });
    assert.deepEqual(lines, [{ level: 40, err: "the store is away", times: 1, work: "reconcile_storage" }]);
    assert.deepEqual(valuesOf(metrics, "webhook_upkeep_failures_total"), [
      'webhook_upkeep_failures_total{work="reconcile_storage"} 1',
    ]);
    assert.equal((await reconcileOnce({ ...stored.services, lock: lock() }))?.end, "complete");
  });

  it("lets a pass end with its page when it is stopped, and the next one go on there", async () => {
    const ids = sortedIds(2);
    const [first] = [await stored.store({ deliveryId: ids[0] }), await stored.store({ deliveryId: ids[1] })];
    const paged = inPages(stored.bucket, 1);
    const stopped = Promise.withResolvers<void>();
    const { upkeep } = newUpkeep({
      list(page) {
        if (page.prefix === undefined) upkeep.stop().then(stopped.resolve, stopped.reject);
        return paged.list(page);
      },
    });
    upkeep.start();
    await stopped.promise;
    assert.equal((await readCursor(stored.db, stored.bucket.name))?.afterKey, first.key);
  });

  it("stops after the object that it is at, whether it empties the trash or looks at orphans", async () => {
    const trashed = await stopAtFirst("deleteVersion", async () =>
      moveToTrash(stored.bucket, await stored.orphan(), "2026-03-01T12:00:00.000Z"),
    );
    assert.deepEqual(trashed.lines, []);
    assert.deepEqual(valuesOf(trashed.metrics, "storage_trash_emptied_total"), [
      "storage_trash_emptied_total 1",
    ]);
    assert.equal((await Array.fromAsync(listTrash(stored.bucket))).length, 1);
    const looked = await stopAtFirst("get", async () =>
      stored.suspect(await stored.orphan(), "object_without_row"),
    );
    assert.deepEqual(looked.lines, []);
    assert.equal(looked.calls, 1);
  });

  it("stops expiring between two statements", async () => {
    await storeMany(501);
    await dueSince("1 s");
    assert.equal(await expireDue(stored.db, AbortSignal.abort()), 500);
    assert.equal(await expireDue(stored.db), 1);
  });
});

describe("a pass", () => {
  it("is one process's at a time in a bucket, and gives its turn back also where it fails", async () => {
    const services = { ...stored.services, lock: lock() };
    let second: Awaited<ReturnType<typeof reconcileOnce>> | undefined;
    let elsewhere: typeof second;
    const other = await openStored(stored.db);
    const list: Bucket["list"] = async (page) => {
      if (second === undefined) {
        second = await reconcileOnce(services);
        elsewhere = await reconcileOnce({ ...other.services, lock: lock() });
      }
      return page.prefix === undefined ? away() : stored.bucket.list(page);
    };
    await assert.rejects(
      reconcileOnce({ ...services, bucket: { ...stored.bucket, list } }),
      /the store is away/,
    );
    await other.close();
    assert.deepEqual([second, elsewhere?.end], [null, "complete"]);
    assert.equal((await reconcileOnce(services))?.end, "complete");
  });
});
