/** One run of an export on a real database and a real folder, with parts of a few rows; beside the whole program it is in test/exports.test.ts. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { getEventListeners } from "node:events";
import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { openArtifacts, type Artifacts } from "../../../test/support/artifacts.ts";
import { ndjsonRows, seedDeliveries, unpack } from "../../../test/support/exports.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { newExportId, type ExportId } from "../../shared/id.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { insertPendingObject } from "../rows/stored-object-store.ts";
import { runExport, type ExportRunServices } from "./export-run.ts";
import { claimExport, insertExport } from "./export-store.ts";
import { ExportImpossibleError, ExportLeaseLostError, type LeasedExport } from "./log-export.ts";

const ACME = tenant("acme");
const LEASE_MS = 60_000;
/** Of rows in a page and in a part. */
const LIMITS = { pageRows: 2, pageBodyBytes: 1024 * 1024, partRows: 4, partBytes: 1024 * 1024 };
const never = new AbortController().signal;

let artifacts: Artifacts;
before(async () => {
  artifacts = await openArtifacts();
});
after(() => artifacts.close());

let folder: string;
beforeEach(async () => {
  await artifacts.reset();
  await artifacts.pool.query("DELETE FROM postern.deliveries");
  folder = join(artifacts.dataDir, "staging", randomUUID());
});

async function request(formats: LeasedExport["formats"] = ["ndjson"]): Promise<ExportId> {
  const id = newExportId();
  const [from, to] = [new Date(Date.now() - 3_600_000), new Date()];
  const filter = { endpointId: null, eventType: null, deliveryStatus: null };
  const of = { tenantId: ACME, id, requestedBy: "ada", from, to, formats };
  assert.ok(await insertExport(artifacts.pool, { ...of, ...filter }));
  return id;
}

async function claim(): Promise<LeasedExport> {
  await artifacts.pool.query(
    "UPDATE postern.storage_exports SET lease_until = now() - interval '1 s' WHERE lease_until IS NOT NULL",
  );
  const leased = await claimExport(artifacts.pool, randomUUID(), LEASE_MS);
  return leased ?? assert.fail();
}

function run(
  leased: LeasedExport,
  { signal = never, ...changed }: Partial<ExportRunServices> & { signal?: AbortSignal } = {},
) {
  const services = { ...artifacts.services, limits: LIMITS, leaseMs: LEASE_MS, ...changed };
  return runExport(services, leased, { folder, signal });
}

const seed = (count: number) => seedDeliveries(artifacts.pool, ACME, Array(count).fill(undefined));

/** A bucket whose uploads meet something first. */
function bucketWith(before: Bucket["put"] | (() => Promise<never>)): Bucket {
  return { ...artifacts.services.bucket, put: before };
}
const away = () => Promise.reject(new Error("away"));

/** Stages all of the log, and ends there. */
async function stageOnly(): Promise<LeasedExport> {
  await assert.rejects(run(await claim(), { bucket: bucketWith(away) }), /^Error: away$/);
  return claim();
}

async function rowOf(id: ExportId) {
  const { rows } = await artifacts.pool.query("SELECT * FROM postern.storage_exports WHERE id = $1", [id]);
  return rows[0];
}

/** What the archive holds. */
async function filesOf(id: ExportId): Promise<Map<string, string>> {
  const { rows } = await artifacts.pool.query(
    "SELECT key FROM postern.stored_objects WHERE delivery_id = $1 AND state = 'available'",
    [id],
  );
  return unpack(await readFile(artifacts.placeOf(rows[0]?.key)));
}

const partsOf = ({ parts }: LeasedExport) =>
  parts.map(({ rows, files }) => [rows, ...files.map(({ path }) => path)]);

describe("a run of an export", () => {
  it("makes parts of as many rows as one may have, and a manifest of them", async () => {
    const seeded = await seed(7);
    const id = await request(["ndjson", "csv"]);
    const staged = await stageOnly();
    assert.deepEqual(partsOf(staged), [
      [4, "ndjson/deliveries-00001.ndjson", "csv/deliveries-00001.csv"],
      [3, "ndjson/deliveries-00002.ndjson", "csv/deliveries-00002.csv"],
      [0, "manifest.json"],
    ]);
    await run(staged);
    const files = await filesOf(id);
    assert.deepEqual(
      ndjsonRows(files).map((row) => row["id"]),
      seeded.map((row) => row.id).toSorted(),
    );
    const { from_at: from, to_at: to } = await rowOf(id);
    const [one, two] = staged.parts;
    assert.deepEqual(JSON.parse(files.get("manifest.json") ?? ""), {
      export_id: id,
      tenant_id: "acme",
      from: from.toISOString(),
      to: to.toISOString(),
      endpoint_id: null,
      event_type: null,
      delivery_status: null,
      formats: ["ndjson", "csv"],
      deliveries: 7,
      files: [...(one?.files ?? []), ...(two?.files ?? [])].map(({ path, size, sha256 }, index) => ({
        path,
        rows: index < 2 ? 4 : 3,
        size,
        sha256,
      })),
    });
    assert.match(files.get("manifest.json") ?? "", /^\{\n {2}"export_id".*\}\n$/s);
  });

  it("ends a part where one of its files is as large as one may be", async () => {
    await seed(6);
    await request(["ndjson", "csv"]);
    await assert.rejects(
      run(await claim(), { bucket: bucketWith(away), limits: { ...LIMITS, partRows: 100, partBytes: 600 } }),
    );
    const rows = (await claim()).parts.map((part) => part.rows);
    assert.deepEqual(rows, [2, 2, 2, 0]);
  });

  it("has no part for a log without rows, nor an empty one behind a full one", async () => {
    await request();
    assert.deepEqual(partsOf(await stageOnly()), [[0, "manifest.json"]]);
    await artifacts.reset();
    await seed(4);
    await request();
    folder = join(artifacts.dataDir, "staging", randomUUID());
    assert.deepEqual(
      (await stageOnly()).parts.map(({ rows }) => rows),
      [4, 0],
    );
  });

  it("tells the tenant in the same step that makes the export ready, and leaves nothing at its signal", async () => {
    const id = await request();
    const leased = await claim();
    await run(leased);
    const { status, object_id: objectId, bytes, attempt } = await rowOf(id);
    assert.deepEqual([status, attempt], ["ready", 1]);
    const { rows } = await artifacts.pool.query(
      "SELECT size::int, deadline, attempt FROM postern.stored_objects WHERE id = $1 AND delivery_id = $2",
      [objectId, id],
    );
    const [object] = rows;
    assert.deepEqual([object.size, object.attempt], [Number(bytes), 1]);
    const { rows: told } = await artifacts.pool.query("SELECT tenant_id, type, body FROM postern.outbox");
    assert.deepEqual([told.length, told[0].tenant_id, told[0].type], [1, "acme", "storage.export.ready"]);
    const data = { export_id: id, object_id: objectId, expires_at: object.deadline.toISOString() };
    assert.deepEqual(JSON.parse(told[0].body).data, data);
    assert.deepEqual(getEventListeners(never, "abort"), []);
  });
});

describe("a run behind another one", () => {
  it("goes on with what is staged, whatever the log has meanwhile", async () => {
    await seed(5);
    const id = await request();
    const staged = await stageOnly();
    await artifacts.pool.query("DELETE FROM postern.deliveries");
    await seedDeliveries(artifacts.pool, ACME, [{ endpoint_id: "ffffffff-7c00-7000-8000-0000000000aa" }]);
    await writeFile(join(folder, "half.zip"), "half an archive");
    await run(staged);
    const found = await rowOf(id);
    assert.deepEqual([found.status, found.attempt, found.rows_done], ["ready", 1, 5]);
    assert.equal(ndjsonRows(await filesOf(id)).length, 5);
    const left = await readdir(folder);
    assert.deepEqual([left.includes("half.zip"), left.length], [false, 3 + 1]);
  });

  it("goes on behind the last part that is staged", async () => {
    const seeded = await seed(9);
    const id = await request();
    const staged = await stageOnly();
    const [part] = staged.parts;
    assert.ok(part !== undefined);
    const ids = seeded.map((row) => row.id).toSorted();
    const [endpointId, deliveryId] = [seeded[0]?.endpoint_id, ids[3]];
    await artifacts.pool.query(
      `UPDATE postern.storage_exports SET parts = $1, rows_done = 4, after_endpoint_id = $2, after_delivery_id = $3`,
      [JSON.stringify([part]), endpointId, deliveryId],
    );
    await run(await claim());
    const files = await filesOf(id);
    assert.deepEqual(
      [...files.keys()],
      [1, 2, 3].map((n) => `ndjson/deliveries-0000${n}.ndjson`).concat("manifest.json"),
    );
    assert.deepEqual(
      ndjsonRows(files).map((row) => row["id"]),
      ids,
    );
    assert.equal((await rowOf(id)).rows_done, 9);
  });

  it("begins anew where a staged file is gone, or of another length", async () => {
    await seed(5);
    const id = await request();
    const first = await stageOnly();
    const place = join(folder, first.parts[1]?.files[0]?.id ?? "");
    await truncate(place, 3);
    const second = await stageOnly();
    assert.deepEqual([second.attempt, second.rowsDone, second.rowsTotal], [2, 5, 5]);
    // What the first one left is gone.
    assert.equal((await readdir(folder)).length, 3 + 1);
    await rm(join(folder, second.parts[0]?.files[0]?.id ?? ""));
    await run(second);
    assert.equal((await rowOf(id)).attempt, 3);
    assert.equal(ndjsonRows(await filesOf(id)).length, 5);
  });

  it("makes no archive of a staged file with other bytes", async () => {
    await seed(1);
    const id = await request();
    const staged = await stageOnly();
    const place = join(folder, staged.parts[0]?.files[0]?.id ?? "");
    const bytes = await readFile(place);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 0xff;
    await writeFile(place, bytes);
    await assert.rejects(run(staged), /^Error: the archive is not valid: [A-Z_]+ (?!undefined)./);
    assert.equal((await rowOf(id)).status, "running");
    await artifacts.reset();
    await seed(13);
    await request();
    const other = await stageOnly();
    const sha256 = "0".repeat(64);
    const parts = other.parts.map(({ rows, files }) => ({
      rows,
      files: files.map((file) => Object.assign({}, file, { sha256 })),
    }));
    await assert.rejects(run({ ...other, parts }), (error) => {
      const [, violations = ""] =
        /^Error: the archive is not valid: MANIFEST (.*)$/.exec(String(error)) ?? [];
      assert.equal(JSON.parse(violations)[0].code, "MANIFEST");
      assert.ok(JSON.parse(violations).length <= 3);
      return true;
    });
  });

  it("is the last of twenty that begin anew", async () => {
    await request();
    await artifacts.pool.query("UPDATE postern.storage_exports SET attempt = 20");
    const impossible = new ExportImpossibleError("It was begun too often without coming to an end.");
    await assert.rejects(run({ ...(await claim()), parts: [missing()] }), impossible);
    await artifacts.pool.query("UPDATE postern.storage_exports SET attempt = 19");
    await run({ ...(await claim()), parts: [missing()] });
    const { rows } = await artifacts.pool.query("SELECT attempt, status FROM postern.storage_exports");
    assert.deepEqual(rows, [{ attempt: 20, status: "ready" }]);
  });
});

/** A part whose file is not there. */
function missing(): LeasedExport["parts"][number] {
  const facts = { size: 1, sha256: "0".repeat(64), crc32: 0, method: 0 as const, compressed_size: 1 };
  return { rows: 1, files: [{ id: randomUUID(), path: "csv/deliveries-00001.csv", ...facts }] };
}

/** The tenants' connections, where something else may answer the nth query of an export. */
function answering(answer: (nth: number) => Promise<object> | null): ExportRunServices["tenants"] {
  const { tenants } = artifacts.services;
  let queries = 0;
  const reading = (tenantId: typeof ACME) => {
    const log = tenants.reading(tenantId);
    const query = (...asked: Parameters<typeof log.query>) => answer(++queries) ?? log.query(...asked);
    return Object.assign(Object.create(log), { query });
  };
  return { ...tenants, reading };
}

describe("a run that cannot end well", () => {
  it("counts up to ten million deliveries, and makes no archive of more", async () => {
    const id = await request();
    const position = { endpointId: randomUUID(), deliveryId: randomUUID() };
    const tenants = (count: number) =>
      answering((nth) => (nth > 1 ? null : Promise.resolve({ rows: [{ looked: 1, count, ...position }] })));
    await assert.rejects(run(await claim(), { tenants: tenants(10_000_001) }), {
      name: "ExportImpossibleError",
      message: "The range holds more than 10000000 deliveries. Ask for a shorter one.",
    });
    assert.equal((await rowOf(id)).attempt, 0);
    await run(await claim(), { tenants: tenants(10_000_000) });
    assert.equal((await rowOf(id)).rows_total, 10_000_000);
  });

  it("stages no more than an archive may hold", async () => {
    await seed(1);
    const id = await request();
    const [part] = (await stageOnly()).parts;
    const size = part?.files[0]?.size ?? 0;
    const place = randomUUID();
    await writeFile(join(folder, place), "x");
    const grown = async (bytes: number) => {
      const [file] = missing().files;
      assert.ok(file !== undefined);
      const files = [{ ...file, id: place, size: bytes }];
      return { ...(await claim()), after: null, parts: [{ rows: 1, files }] };
    };
    const limit = 4_294_967_296;
    // The second has no room for its manifest.
    for (const bytes of [limit - size + 1, limit - size]) {
      const message = /^The range holds more than 4 GiB\. .* for one format\.$/;
      await assert.rejects(run(await grown(bytes)), { name: "ExportImpossibleError", message });
    }
    await assert.rejects(run(await grown(limit - size - 10_000)), /^Error: the archive is not valid: /);
    assert.equal((await rowOf(id)).status, "running");
  });

  it("leaves the row to who has the lease by now, before the log is read and behind it", async () => {
    await seed(1);
    const id = await request();
    const lost = { ...(await claim()), leaseOwner: randomUUID() };
    await assert.rejects(run(lost), { name: "ExportLeaseLostError" });
    const staged = await stageOnly();
    await assert.rejects(run({ ...staged, leaseOwner: randomUUID(), parts: [] }), ExportLeaseLostError);
    await assert.rejects(run({ ...staged, leaseOwner: randomUUID() }), ExportLeaseLostError);
    const { status, object_id: objectId } = await rowOf(id);
    assert.deepEqual([status, objectId], ["running", null]);
    const { rows } = await artifacts.pool.query("SELECT state FROM postern.stored_objects");
    assert.deepEqual(rows, [{ state: "pending" }]);
    assert.equal((await artifacts.pool.query("SELECT FROM postern.outbox")).rows.length, 0);
  });

  it("leaves no half file when the log cannot be read any more", async () => {
    await seed(7);
    await request();
    const failing = answering((nth) => (nth === 5 ? Promise.reject(new Error("no more")) : null));
    await assert.rejects(run(await claim(), { tenants: failing }), /^Error: no more$/);
    assert.equal((await claim()).parts.length, 1);
    assert.equal((await readdir(folder)).length, 1);
  });

  it("does not take over what something else holds under its archive's key", async () => {
    const id = await request();
    const other = artifacts.newObject("other bytes", "export");
    assert.ok((await insertPendingObject(artifacts.pool, { ...other, deliveryId: id })) !== null);
    await assert.rejects(run(await claim()), /^Error: the archive's key is taken by something else$/);
  });

  it("makes nothing ready when the archive's row changes under its hands", async () => {
    const id = await request();
    const { probes } = artifacts.services;
    const meddling = {
      ...probes,
      run: async (...asked: Parameters<typeof probes.run>) => {
        const tried = await probes.run(...asked);
        await artifacts.pool.query("UPDATE postern.stored_objects SET revision = revision + 1");
        return tried;
      },
    };
    await assert.rejects(run(await claim(), { probes: meddling }), /^Error: the archive's row has changed$/);
    assert.equal((await rowOf(id)).status, "running");
  });
});

describe("a run that is stopped", () => {
  it("ends for the reason given, wherever it is", async () => {
    await seed(3);
    await request();
    const reason = new Error("enough");
    const stopped = AbortSignal.abort(reason);
    await assert.rejects(run(await claim(), { signal: stopped }), reason);
    const staged = await stageOnly();
    await assert.rejects(run({ ...staged, parts: [] }, { signal: stopped }), reason);
    await assert.rejects(run(staged, { signal: stopped }), reason);
  });

  it("waits for no upload and for no trial of links", async () => {
    await request();
    const reason = new Error("enough");
    for (const where of ["upload", "trial"]) {
      const stopping = new AbortController();
      const hanging = () => {
        stopping.abort(reason);
        return Promise.withResolvers<never>().promise;
      };
      const probes = { ...artifacts.services.probes, run: hanging };
      const changed = where === "upload" ? { bucket: bucketWith(hanging) } : { probes };
      await assert.rejects(run(await claim(), { ...changed, signal: stopping.signal }), reason);
    }
  });
});
