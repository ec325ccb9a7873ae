/** The worker of exports on a real database and a real folder: what it makes of each end of a run. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it, type TestContext } from "node:test";
import { pino } from "pino";
import { openArtifacts, type Artifacts } from "../../../test/support/artifacts.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import type { TenantPool } from "../../database/tenant-pool.ts";
import { newExportId, type ExportId } from "../../shared/id.ts";
import { makeMetrics } from "../../telemetry/metrics.ts";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { STAGE_LIMITS } from "./export-stage.ts";
import { insertExport } from "./export-store.ts";
import { makeExportWorker } from "./export-worker.ts";

const GIVEN_UP = "It could not be made in three tries. The operator's log says why.";

let artifacts: Artifacts;
before(async () => {
  artifacts = await openArtifacts();
});
after(() => artifacts.close());

let root: string;
let worker: ReturnType<typeof makeExportWorker>;
let put: (upload: Parameters<Bucket["put"]>[0]) => ReturnType<Bucket["put"]>;
let reading: TenantPool["reading"];
let metrics: ReturnType<typeof makeMetrics>;
let lines: Record<string, unknown>[];
/** Called with how many lines there are. */
let told: (count: number) => void;
/** By the database's clock. */
let begunAt: Date;
beforeEach(async () => {
  await artifacts.reset();
  begunAt = (await artifacts.pool.query("SELECT now() AS now")).rows[0].now;
  root = join(artifacts.dataDir, "exports");
  await rm(root, { recursive: true, force: true });
  metrics = makeMetrics();
  lines = [];
  told = () => undefined;
  const write = (line: string) => told(lines.push(JSON.parse(line)));
  const log = pino({ level: "info", base: null }, { write });
  const { bucket, tenants } = artifacts.services;
  put = (upload) => bucket.put(upload);
  reading = (tenantId) => tenants.reading(tenantId);
  worker = makeExportWorker({
    ...artifacts.services,
    tenants: { ...tenants, reading: (tenantId) => reading(tenantId) },
    bucket: { ...bucket, put: (upload) => put(upload) },
    limits: STAGE_LIMITS,
    dataDir: artifacts.dataDir,
    log,
    metrics,
  });
});
afterEach(() => worker.stop());

/** An export that waits for a worker, after as many runs as `fruitless_runs` says. */
async function request(fruitlessRuns = 0): Promise<ExportId> {
  const id = newExportId();
  const filter = { endpointId: null, eventType: null, deliveryStatus: null };
  const of = { tenantId: tenant("acme"), id, requestedBy: "ada", formats: ["csv"] as const };
  assert.ok(await insertExport(artifacts.pool, { ...of, from: new Date(0), to: new Date(1), ...filter }));
  const sql = "UPDATE postern.storage_exports SET fruitless_runs = $2 WHERE id = $1";
  await artifacts.pool.query(sql, [id, fruitlessRuns]);
  return id;
}

async function rowOf(id: ExportId) {
  const { rows } = await artifacts.pool.query(
    `SELECT status, error, fruitless_runs, attempt, lease_until, extract(epoch FROM lease_until - now())::float8 AS lease_s
      FROM postern.storage_exports WHERE id = $1`,
    [id],
  );
  return rows[0];
}

/** Whether the export was given back since the test began, and is not to be claimed again for so many seconds. */
async function isGivenBack(id: ExportId, seconds: number): Promise<boolean> {
  const { lease_s: lease, lease_until: until } = await rowOf(id);
  return lease !== null && lease <= seconds && until.getTime() >= begunAt.getTime() + seconds * 1000;
}

const ends = (id: ExportId, status: string) => eventually(async () => (await rowOf(id)).status === status);
const messages = () => lines.map(({ msg }) => msg);

async function counted(): Promise<Record<string, number>> {
  const { values } = await metrics.exportsTotal.get();
  return Object.fromEntries(
    values.map(({ labels, value }) => [String(labels.outcome), value]).filter(([, n]) => n !== 0),
  );
}

const fail = (error: Error) => async () => {
  throw error;
};
const ofDisk = (code: string) => Object.assign(new Error(code), { code });
const staged = async () =>
  (await readdir(root).catch(() => [])).sort((one, other) => one.localeCompare(other));

describe("an export's worker", () => {
  it("makes one after the other, longest waiting first, and leaves nothing staged", async () => {
    const ids = [await request(), await request()];
    worker.start();
    worker.start();
    for (const id of ids) await ends(id, "ready");
    await worker.stop();
    assert.deepEqual(
      lines.map(({ msg, exportId, tenantId }) => ({ msg, exportId, tenantId })),
      ids.map((exportId) => ({ msg: "an export is ready", exportId, tenantId: "acme" })),
    );
    assert.deepEqual(await counted(), { ready: 2 });
    assert.deepEqual(await staged(), []);
  });

  it("tries what failed again, later each time and from the beginning", async () => {
    put = fail(new Error("no luck"));
    const [first, second] = [await request(), await request(1)];
    worker.start();
    await eventually(() => isGivenBack(first, 5));
    await eventually(() => isGivenBack(second, 10));
    await worker.stop();
    for (const id of [first, second]) {
      const { status, fruitless_runs: fruitless } = await rowOf(id);
      // Each staged its part, and counts anew from there.
      assert.deepEqual([status, fruitless], ["running", 1]);
    }
    assert.deepEqual(await staged(), []);
    assert.deepEqual(messages(), Array(2).fill("an export's run failed; it is tried again"));
    assert.deepEqual(await counted(), {});
  });

  it("gives up with the third run in a row that failed, and when three runs died", async () => {
    put = fail(new Error("no luck"));
    const [third, dead] = [await request(2), await request(3)];
    worker.start();
    for (const id of [third, dead]) {
      await ends(id, "failed");
      assert.equal((await rowOf(id)).error, GIVEN_UP);
    }
    await worker.stop();
    assert.deepEqual(messages(), [
      "an export has failed for good",
      "an export's runs all died; it has failed",
    ]);
    assert.equal((await rowOf(dead)).attempt, 0);
    assert.deepEqual(await counted(), { failed: 2 });
    assert.deepEqual(await staged(), []);
  });

  it("tries again what failed before anything was staged", async () => {
    const id = await request();
    reading = () => {
      throw new Error("no luck");
    };
    worker.start();
    await eventually(() => isGivenBack(id, 5));
    await worker.stop();
    assert.deepEqual(messages(), ["an export's run failed; it is tried again"]);
  });

  it("needs no folder any more when the export is ready", async () => {
    const { bucket } = artifacts.services;
    put = async (upload) => {
      const answer = await bucket.put(upload);
      await rm(root, { recursive: true });
      return answer;
    };
    await request();
    worker.start();
    await eventually(async () => lines.length > 0);
    await worker.stop();
    assert.deepEqual(messages(), ["an export is ready"]);
  });

  it("tells the tenant why an export is impossible, at once", async () => {
    const id = await request();
    const file = { id, path: "a", size: 1, sha256: "0".repeat(64), crc32: 0, method: 0, compressed_size: 1 };
    await artifacts.pool.query("UPDATE postern.storage_exports SET attempt = 20, parts = $1", [
      JSON.stringify([{ rows: 1, files: [file] }]),
    ]);
    await mkdir(join(root, id), { recursive: true });
    worker.start();
    await ends(id, "failed");
    await worker.stop();
    assert.equal((await rowOf(id)).error, "It was begun too often without coming to an end.");
    assert.deepEqual(messages(), []);
    assert.deepEqual(await counted(), { failed: 1 });
    assert.deepEqual(await staged(), []);
  });

  for (const runs of [0, 2]) {
    it(`does not end one that passed to another worker while run ${runs + 1} failed, and keeps its files`, async () => {
      const id = await request(runs);
      put = async () => {
        await artifacts.pool.query("UPDATE postern.storage_exports SET lease_owner = gen_random_uuid()");
        throw new Error("no luck");
      };
      worker.start();
      await eventually(async () => lines.length > 0);
      await worker.stop();
      assert.equal((await rowOf(id)).status, "running");
      assert.deepEqual(await counted(), {});
      assert.deepEqual(await staged(), [id]);
    });
  }

  it("gives an export back at once when it is stopped, and the run counts as none", async () => {
    const id = await request();
    const begun = Promise.withResolvers<void>();
    put = () => {
      begun.resolve();
      return Promise.withResolvers<never>().promise;
    };
    worker.start();
    await begun.promise;
    await worker.stop();
    const { status, fruitless_runs: fruitless, lease_s: lease } = await rowOf(id);
    assert.deepEqual([status, fruitless, lease <= 0.001], ["running", 0, true]);
    assert.deepEqual(messages(), []);
    assert.deepEqual(await staged(), [id]);
  });
});

describe("an outage of the store", () => {
  const outage = new StoreUnavailableError("away");
  const WAITS = "an export waits for object store, database or the disk of DATA_DIR; it continues by itself";

  /**
   * The first export meets the outage, then again with its part staged, and once
   * more when so much time has passed. The others' runs are between, so that
   * nobody waits for the next look.
   */
  async function meetAgain(
    test: TestContext,
    { afterMs, parts = "parts" }: { afterMs: number; parts?: string },
  ) {
    const ids = [await request(), await request(), await request()] as const;
    const start = Math.ceil(performance.now());
    let puts = 0;
    put = async () => {
      puts++;
      if (puts === 2 || puts === 4) {
        await artifacts.pool.query(
          `UPDATE postern.storage_exports SET lease_until = now() - interval '1 s', parts = ${puts === 4 ? parts : "parts"}
            WHERE id = $1`,
          [ids[0]],
        );
      }
      test.mock.method(performance, "now", () => start + (puts === 5 ? afterMs : 0));
      throw outage;
    };
    const settled = Promise.withResolvers<void>();
    told = (count) => count === 5 && settled.resolve();
    worker.start();
    await settled.promise;
    test.mock.restoreAll();
    return ids;
  }

  for (const error of [outage, ...["ENOSPC", "EDQUOT", "EROFS", "EACCES"].map(ofDisk)])
    it(`is waited for with what is staged, and counts as no run: ${error.message}`, async () => {
      const id = await request();
      put = fail(error);
      worker.start();
      await eventually(() => isGivenBack(id, 30));
      await worker.stop();
      const { status, fruitless_runs: fruitless } = await rowOf(id);
      assert.deepEqual([status, fruitless], ["running", 0]);
      assert.deepEqual(messages(), [WAITS]);
      assert.deepEqual(await counted(), {});
      assert.deepEqual(await staged(), [id]);
    });

  for (const [name, afterMs, isFailure] of [
    [
      "is a failure when it has lasted an hour without a staged part, and what is staged stays",
      3_600_000,
      true,
    ],
    ["is none shortly before", 3_599_999, false],
  ] as const) {
    it(name, async (test) => {
      const ids = await meetAgain(test, { afterMs });
      await eventually(() => isGivenBack(ids[0], isFailure ? 5 : 30));
      await worker.stop();
      const last = isFailure ? "an export's run failed; it is tried again" : WAITS;
      assert.deepEqual(messages(), [WAITS, WAITS, WAITS, WAITS, last]);
      assert.equal((await rowOf(ids[0])).fruitless_runs, isFailure ? 1 : 0);
      assert.deepEqual(await staged(), ids);
    });
  }

  it("begins anew with each part that was staged since", async (test) => {
    await meetAgain(test, { afterMs: 7_200_000, parts: `parts || '[{"rows": 0, "files": []}]'` });
    await worker.stop();
    assert.deepEqual(messages(), Array(5).fill(WAITS));
  });
});

/** Begins a run whose upload hangs, with the time of intervals in hand. */
async function begin(test: TestContext): Promise<ExportId> {
  const id = await request();
  const begun = Promise.withResolvers<void>();
  put = () => {
    begun.resolve();
    return Promise.withResolvers<never>().promise;
  };
  test.mock.timers.enable({ apis: ["setInterval"] });
  worker.start();
  await begun.promise;
  return id;
}

const shorten = () =>
  artifacts.pool.query("UPDATE postern.storage_exports SET lease_until = now() + interval '9 s'");
const rename = (from: string, to: string) =>
  artifacts.pool.query(`ALTER TABLE postern.${from} RENAME TO ${to}`);

describe("an export's lease", () => {
  it("is renewed every 15 seconds for a minute, also after a failure of the database", async (test) => {
    const id = await begin(test);
    await shorten();
    test.mock.timers.tick(14_999);
    assert.ok((await rowOf(id)).lease_s < 10);
    test.mock.timers.tick(1);
    await eventually(() => isGivenBack(id, 60));
    await rename("storage_exports", "exports_elsewhere");
    test.mock.timers.tick(15_000);
    await eventually(async () => lines.length === 1);
    await rename("exports_elsewhere", "storage_exports");
    assert.deepEqual(messages(), ["an export's lease could not be renewed yet"]);
    await shorten();
    test.mock.timers.tick(15_000);
    await eventually(() => isGivenBack(id, 60));
  });

  it("that was lost ends the run", async (test) => {
    const id = await begin(test);
    await artifacts.pool.query("UPDATE postern.storage_exports SET lease_owner = gen_random_uuid()");
    test.mock.timers.tick(15_000);
    await eventually(async () => lines.length === 1);
    assert.deepEqual(messages(), ["an export passed to another worker"]);
    const { status, fruitless_runs: fruitless, lease_s: lease } = await rowOf(id);
    assert.deepEqual([status, fruitless, lease > 30], ["running", 1, true]);
    assert.deepEqual([await staged(), await counted()], [[id], {}]);
  });

  it("is not renewed any more when the run is over", async (test) => {
    const id = await request();
    put = fail(new Error("no luck"));
    test.mock.timers.enable({ apis: ["setInterval"] });
    worker.start();
    await eventually(() => isGivenBack(id, 5));
    await worker.stop();
    test.mock.timers.tick(15_000);
    await rowOf(id);
    assert.ok((await rowOf(id)).lease_s < 10);
  });
});

describe("what is staged on this machine", () => {
  it("is removed where its export is over or unknown, and nothing else is", async () => {
    const [over, running] = [await request(), await request()];
    await artifacts.pool.query(
      "UPDATE postern.storage_exports SET status = 'failed', error = 'no' WHERE id = $1",
      [over],
    );
    await artifacts.pool.query(
      `UPDATE postern.storage_exports SET status = 'running', lease_owner = $2, lease_until = now() + interval '1 h' WHERE id = $1`,
      [running, randomUUID()],
    );
    for (const name of [over, running, newExportId(), "notes"])
      await mkdir(join(root, name, "more"), { recursive: true });
    worker.start();
    await eventually(async () => (await staged()).length <= 2);
    await worker.stop();
    assert.deepEqual(await staged(), [running, "notes"]);
  });

  it("stays while the database does not tell what is needed, which is logged", async () => {
    await mkdir(join(root, newExportId()), { recursive: true });
    await rename("storage_exports", "exports_elsewhere");
    worker.start();
    await eventually(async () => new Set(messages()).size >= 2);
    await rename("exports_elsewhere", "storage_exports");
    assert.deepEqual(
      new Set(messages()),
      new Set(["no export could be claimed", "old staged files could not be removed"]),
    );
    assert.equal((await staged()).length, 1);
    assert.ok(lines.every(({ err }) => err !== undefined));
    // The next look at what waits comes a second later.
    await ends(await request(), "ready");
  });
});
