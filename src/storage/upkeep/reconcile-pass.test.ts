import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  answering,
  away,
  inPages,
  eachStored,
  sortedIds,
  type KeptArtifact,
  type Stored,
} from "../../../test/support/stored.ts";
import { newDeliveryId } from "../../shared/id.ts";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { ownerKey } from "../bytes/own-keys.ts";
import { digestOf } from "./destruction.ts";
import { readBucket } from "./owner-store.ts";
import { runPass, type PassOptions } from "./reconcile-pass.ts";
import { readCursor } from "./reconcile-store.ts";

let stored: Stored;
eachStored((opened) => (stored = opened));

const run = (bucket: Partial<Bucket> = {}, options: PassOptions = {}) =>
  runPass({ ...stored.services, bucket: { ...stored.bucket, ...bucket } }, options);

/** Does this whenever the artifacts are listed, which is after their rows were read. */
function whenListed(work: (times: number) => Promise<unknown>): Pick<Bucket, "list"> {
  let times = 0;
  return {
    async list(page) {
      if (page.prefix === undefined) await work(++times);
      return stored.bucket.list(page);
    },
  };
}

/** All that a pass may change. */
async function everything(): Promise<string> {
  const tables = ["stored_objects", "storage_marks", "storage_cursor", "storage_events", "storage_destroyed"];
  const found = await Promise.all(
    tables.map((table) =>
      stored.db.query(`SELECT to_jsonb(t) AS row FROM postern.${table} t WHERE bucket = $1 ORDER BY 1`, [
        stored.bucket.name,
      ]),
    ),
  );
  return JSON.stringify([
    found.map(({ rows }) => rows),
    await stored.bucket.list({ after: null, limit: 100 }),
  ]);
}

/** Of an artifact whose bytes are gone: so many more rows, all long suspected to have lost theirs. */
async function loseMany(count: number): Promise<void> {
  const lost = await stored.store();
  await stored.lose(lost);
  await stored.db.query(
    `INSERT INTO postern.stored_objects
      SELECT (jsonb_populate_record(o, jsonb_build_object('id', new.id, 'delivery_id', new.id,
        'key', replace(o.key, o.delivery_id::text, new.id::text)))).*
      FROM postern.stored_objects o, LATERAL (SELECT gen_random_uuid() AS id, n FROM generate_series(2, $2) n) new
      WHERE o.bucket = $1`,
    [stored.bucket.name, count],
  );
  await stored.db.query(
    `INSERT INTO postern.storage_marks (bucket, key, class, first_seen_at, run_id)
      SELECT bucket, key, 'row_without_object', now() - interval '3 hours', gen_random_uuid()
      FROM postern.stored_objects WHERE bucket = $1`,
    [stored.bucket.name],
  );
}

const NOTHING = {
  end: "complete",
  reason: null,
  keys: 0,
  decisions: {},
  destruction: { number: 0, digest: digestOf([]) },
  undeleted: 0,
  relinked: 0,
  finished: 0,
  refusal: null,
};

describe("a pass over several pages", () => {
  it("counts what was done in all of them", async () => {
    const ids = sortedIds(6);
    const kept: KeptArtifact[] = [];
    for (const [index, state] of (
      ["pending", "pending", "expired", "available", "pending", "expired"] as const
    ).entries())
      kept.push(await stored.store({ state, deliveryId: ids[index] }));
    await writeFile(stored.placeOf("v1/t/zzz"), "another's file");
    const [refused] = kept;
    const probes = {
      ...stored.services.probes,
      sample: async ({ id }: { id: string }) => answering(id === refused?.id ? { unsigned_get: 200 } : {}),
    };
    const pages = inPages(stored.bucket, 2);
    const deleteVersion: Bucket["deleteVersion"] = (version) =>
      version.key.startsWith("v1/") ? away() : stored.bucket.deleteVersion(version);
    assert.equal((await run(pages, { isDryRun: true })).finished, 0);
    assert.equal(await stored.stateOf({ id: kept[1]?.id ?? "" }), "pending");
    const { refusal, ...summary } = await runPass({
      ...stored.services,
      probes,
      bucket: { ...pages, deleteVersion },
    });
    assert.deepEqual(summary, {
      end: "complete",
      reason: null,
      keys: 7,
      decisions: { suspect: 3, purge: 2, ignored: 1 },
      destruction: NOTHING.destruction,
      undeleted: 2,
      relinked: 0,
      finished: 2,
    });
    assert.match(refusal ?? "", /^the artifact may not be downloaded yet, PROBE_FAILED: unsigned_get/);
    assert.deepEqual(await Promise.all(kept.map(stored.stateOf)), [
      "pending",
      "available",
      "expired",
      "available",
      "available",
      "expired",
    ]);

    const again = await run(pages);
    assert.deepEqual([again.decisions.purge, again.undeleted], [2, 0]);
    assert.deepEqual(
      kept.map(({ place }) => existsSync(place)),
      [true, true, false, true, true, false],
    );
  });

  it("raises the bucket's mark where it begins, and not where it goes on", async () => {
    for (const deliveryId of sortedIds(3)) await stored.store({ deliveryId });
    const generation = async () => (await readBucket(stored.db, stored.bucket.name))?.generation;
    const marks = async () => (await readdir(join(stored.root, "postern", "owner"))).length;
    assert.equal(await generation(), 1);
    const stop = new AbortController();
    const pages = inPages(stored.bucket, 2);
    const { end, keys } = await run(pages, { signal: stop.signal, onPage: () => stop.abort() });
    assert.deepEqual([end, keys, await generation()], ["interrupted", 2, 2]);
    // The first mark tells when the last pass began that came to its end.
    assert.equal(await marks(), 2);
    assert.deepEqual(await run(pages), { ...NOTHING, keys: 1 });
    assert.deepEqual([await generation(), await marks()], [2, 1]);
    assert.equal((await run(pages)).keys, 3);
    assert.equal(await generation(), 3);
  });

  it("stays at the page that would destroy too much, and an operator is shown the pages before it too", async () => {
    const ids = sortedIds(7);
    const objects: { key: string; place: string }[] = [];
    for (const deliveryId of ids) {
      const isKept = deliveryId === ids[3];
      const object = await (isKept ? stored.store({ deliveryId }) : stored.orphan({ deliveryId }));
      if (!isKept) await stored.suspect(object, "object_without_row");
      objects.push(object);
    }
    const kept = objects[3];
    assert.ok(kept !== undefined);
    const pages = inPages(stored.bucket, 4);
    const { end, reason, keys, destruction } = await run(pages);
    assert.deepEqual(
      [end, reason, keys, destruction.number],
      ["halted", "the pass would destroy 6 artifacts, and of 1 known ones 5 are allowed", 4, 3],
    );
    const isThere = () => objects.map(({ place }) => existsSync(place));
    assert.deepEqual(isThere(), [false, false, false, true, true, true, true]);
    const cursor = await readCursor(stored.db, stored.bucket.name);
    assert.deepEqual([cursor?.afterKey, cursor?.haltedReason], [kept.key, reason]);
    assert.deepEqual(await run(pages), { ...NOTHING, end: "halted", reason });

    await stored.lose(kept);
    await stored.suspect(kept, "row_without_object");
    const dry = await run(pages, { isDryRun: true });
    assert.deepEqual([dry.end, dry.reason, dry.destruction.number], ["complete", reason, 4]);
    const other = await run(pages, { acknowledged: destruction.digest });
    assert.deepEqual(other, { ...NOTHING, end: "unapproved" });
    const done = await run(pages, { acknowledged: dry.destruction.digest });
    assert.deepEqual(done, {
      ...NOTHING,
      keys: 4,
      decisions: { purge: 3, missing: 1 },
      destruction: dry.destruction,
    });
    assert.deepEqual(isThere(), Array(7).fill(false));
  });
});

describe("a page", () => {
  it("may destroy 20 artifacts, and one more halts the pass, however many an operator is shown", async () => {
    await loseMany(101);
    const earlier = await everything();
    const dry = await run({}, { isDryRun: true });
    assert.deepEqual([dry.end, dry.keys, dry.decisions], ["complete", 101, { missing: 101 }]);
    assert.equal(await everything(), earlier);

    /** As if nothing were wrong with the others. */
    const settle = (kept: number) =>
      stored.db.query(
        `WITH over AS (DELETE FROM postern.storage_marks m USING
            (SELECT key FROM postern.storage_marks WHERE bucket = $1 ORDER BY key OFFSET $2) other
            WHERE m.bucket = $1 AND m.key = other.key RETURNING m.key)
          UPDATE postern.stored_objects o SET state = 'missing' FROM over WHERE o.bucket = $1 AND o.key = over.key`,
        [stored.bucket.name, kept],
      );
    await settle(21);
    const { end, reason, keys, destruction } = await run();
    assert.deepEqual(
      [end, reason, keys, destruction.number],
      ["halted", "a page would destroy more than 20 artifacts", 101, 21],
    );
    await stored.db.query("DELETE FROM postern.storage_cursor WHERE bucket = $1", [stored.bucket.name]);
    await settle(20);
    assert.deepEqual((await run()).decisions, { missing: 20 });
  });

  it("is read again where a row changes meanwhile, three times at most", async () => {
    const lost = await stored.store();
    await stored.lose(lost);
    await stored.suspect(lost, "row_without_object");
    const change = () =>
      stored.db.query("UPDATE postern.stored_objects SET revision = revision + 1 WHERE id = $1", [lost.id]);
    let lists = 0;
    const always = whenListed(async (times) => {
      lists = times;
      await change();
    });
    await assert.rejects(run(always), { name: "PageChangedError" });
    assert.deepEqual([lists, await stored.stateOf(lost)], [3, "available"]);
    const twice = whenListed(async (times) => times <= 2 && (await change()));
    let pages = 0;
    assert.deepEqual((await run(twice, { onPage: () => void pages++ })).decisions, { missing: 1 });
    assert.deepEqual([pages, await stored.stateOf(lost)], [1, "missing"]);
  });

  it("is not applied in a bucket that another installation took over meanwhile", async () => {
    const lost = await stored.store();
    await stored.lose(lost);
    await stored.suspect(lost, "row_without_object");
    const installation = randomUUID();
    const takeOver = whenListed(() => stored.takeOver(9, installation));
    const { end, reason, keys } = await run(takeOver);
    assert.deepEqual([end, keys, await stored.stateOf(lost)], ["refused", 0, "available"]);
    const foreign = new RegExp(`the owner mark of another installation, ${installation}`);
    assert.match(reason ?? "", foreign);
    const earlier = await everything();
    const dry = await run({}, { isDryRun: true });
    assert.deepEqual([dry.end, dry.decisions], ["complete", { missing: 1 }]);
    assert.match(dry.reason ?? "", foreign);
    assert.deepEqual(await run(), { ...NOTHING, end: "refused", reason: dry.reason });
    assert.equal(await everything(), earlier);
  });

  it("is not judged where its listing is out of order, or ends although it announces more", async () => {
    for (const deliveryId of sortedIds(2)) await stored.orphan({ deliveryId });
    const earlier = await everything();
    const unlawful: Pick<Bucket, "list">[] = [
      {
        async list(page) {
          const { objects, isTruncated } = await stored.bucket.list(page);
          return { objects: page.prefix === undefined ? objects.toReversed() : objects, isTruncated };
        },
      },
      {
        list: async (page) =>
          page.prefix === undefined ? { objects: [], isTruncated: true } : stored.bucket.list(page),
      },
    ];
    for (const bucket of unlawful) {
      for (const isDryRun of [true, false])
        await assert.rejects(run(bucket, { isDryRun }), StoreUnavailableError);
    }
    assert.equal(await everything(), earlier);
  });
});

describe("an object that only a newer database can know", () => {
  it("ends the pass before anything is changed, and every later one, and is told by a dry run", async () => {
    const lost = await stored.store();
    await stored.lose(lost);
    await stored.suspect(lost, "row_without_object");
    // The last pass began long ago.
    await utimes(join(stored.root, ownerKey(1)), 1, 1);
    const { key } = await stored.orphan({ deliveryId: newDeliveryId() });
    const earlier = await everything();
    const told = new RegExp(`has the object ${key}, which was stored since the last pass`);
    const dry = await run({}, { isDryRun: true });
    assert.deepEqual([dry.end, dry.decisions], ["complete", { missing: 1, suspect: 1 }]);
    assert.match(dry.reason ?? "", told);
    const refused = await run();
    assert.match(refused.reason ?? "", told);
    assert.deepEqual(refused, { ...NOTHING, end: "refused", reason: refused.reason });
    assert.deepEqual(await run(), refused);
    assert.equal(await everything(), earlier);
  });
});
