/** Exports through the running program: from the request to the rows of the archive. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { idAt } from "../src/shared/id.ts";
import { createEndpoint, publish, wholeLog } from "./support/api.ts";
import {
  csvRows,
  lastHour,
  ndjsonRows,
  parquetRows,
  seedDeliveries,
  seedMany,
  storageOf,
  unpack,
  unpackFiles,
} from "./support/exports.ts";
import { MEMBER, OTHER_OWNER, OWNER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { assertRefused, issuesOf, REFUSED, UNKNOWN_ID } from "./support/webhooks.ts";

const EXPORTED_MEMBERS = [
  "id",
  "endpoint_id",
  "event_id",
  "event_type",
  "event_version",
  "trigger",
  "replay_id",
  "status",
  "attempt",
  "request_headers",
  "request_body",
  "response_status",
  "response_headers",
  "response_body",
  "latency_ms",
  "error",
  "sent_at",
  "created_at",
];

let dataDir: string;
let service: TestService;
let storage: ReturnType<typeof storageOf>;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "postern-exports-"));
  service = await startTestService({ env: { DATA_DIR: dataDir } });
  storage = storageOf(service);
});
after(async () => {
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
});

describe("an export", () => {
  it("holds each delivery of the log once, as the log shows it, in NDJSON and CSV", async () => {
    const { endpoint } = await createEndpoint(service, { url: service.receiver.url });
    for (let n = 0; n < 3; n++) await publish(service, "invoice.paid", { data: { n, text: '=1+1,"\r\n' } });
    const log = await eventually(async () => {
      const rows = await wholeLog(service, endpoint.id);
      return rows.length === 3 && rows.every(({ status }) => status === "delivered") && rows;
    });
    const id = await storage.request({ ...lastHour(), endpoint_id: endpoint.id });
    const found = await storage.waitFor(id);
    assert.deepEqual(found.progress.rows_done, 3);
    assert.deepEqual(found.progress.rows_total, 3);
    const archive = await storage.download(found);
    assert.equal(found.progress.bytes, archive.length);
    const files = await unpack(archive);
    assert.deepEqual(ndjsonRows(files), log.toReversed());
    assert.ok(log.every(({ sent_at }) => sent_at !== null));
    const expected = log.toReversed().map(({ next_attempt_at: _pending, ...row }) => row);
    assert.deepEqual(
      csvRows(files),
      expected.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            value === null || typeof value === "string"
              ? value
              : typeof value === "object"
                ? JSON.stringify(value)
                : String(value),
          ]),
        ),
      ),
    );
  });

  it("is told of by the event storage.export.ready, and leaves no staged file behind", async () => {
    const { endpoint } = await createEndpoint(service, {
      url: service.receiver.url,
      events: ["storage.export.ready"],
    });
    const id = await storage.request();
    const found = await storage.waitFor(id);
    const told = await eventually(async () =>
      (await wholeLog(service, endpoint.id)).find(({ request_body }) => request_body?.includes(id)),
    );
    assert.ok(new Date(found.to) <= new Date(), "it was asked for to a time to come");
    const { items } = await storage.library("?kind=export&limit=1");
    assert.deepEqual(JSON.parse(told.request_body ?? "").data, {
      export_id: id,
      object_id: found.object_id,
      expires_at: items[0]?.expires_at,
    });
    // Its run removes them once the export is ready.
    await eventually(async () => (await readdir(join(dataDir, "exports")).catch(() => [])).length === 0);
  });

  it("is cut into several files where the range is long, each row in exactly one", async () => {
    await seedMany(service.database.pool, "acme", 2345);
    const found = await storage.waitFor(await storage.request());
    const files = await unpack(await storage.download(found));
    const rows = ndjsonRows(files);
    assert.equal(rows.length, found.progress.rows_done);
    assert.equal(new Set(rows.map((row) => row["id"])).size, rows.length);
    assert.ok(rows.length > 2345);
    assert.deepEqual(
      csvRows(files).map((row) => row["id"]),
      rows.map((row) => row["id"]),
    );
    const manifest = JSON.parse(files.get("manifest.json") ?? "");
    assert.equal(manifest.deliveries, rows.length);
    assert.deepEqual(
      manifest.files.map((file: { path: string }) => file.path),
      [...files.keys()].filter((name) => name !== "manifest.json"),
    );
    const named = manifest.files.map(({ path, rows }: { path: string; rows: number }) => [path, rows]);
    const lines = [...files].filter(([path]) => path.endsWith(".ndjson"));
    for (const [path, text] of lines) assert.equal(new Map(named).get(path), text.split("\n").length - 1);
  });

  it("holds what was asked for alone: by endpoint, by event type exact or with .*, by status", async () => {
    const at = Date.now() - 14_400_000;
    const kinds = ["invoice.paid", "invoice.paid.late", "invoices.paid", "document.signed"].flatMap(
      (event_type) => ["delivered", "failed", "test"].map((status) => ({ event_type, status })),
    );
    const { endpoint } = await createEndpoint(service, { url: service.receiver.url });
    const endpoints = [endpoint.id, "0190a5b1-7c00-7000-8000-0000000000aa"];
    const seeded = await seedDeliveries(
      service.database.pool,
      "acme",
      kinds.flatMap((kind) =>
        endpoints.map((endpoint_id) => Object.assign({ endpoint_id, id: idAt(at) }, kind)),
      ),
    );
    const range = {
      from: new Date(at).toISOString(),
      to: new Date(at + 1).toISOString(),
      formats: ["ndjson"],
    };
    const cases: [object, (row: (typeof seeded)[number]) => boolean][] = [
      [{ event_type: "invoice.paid" }, ({ event_type }) => event_type === "invoice.paid"],
      [{ event_type: "invoice.*" }, ({ event_type }) => event_type.startsWith("invoice.")],
      [{ delivery_status: "failed" }, ({ status }) => status === "failed"],
      [
        { endpoint_id: endpoint.id, event_type: "invoice.paid.*", delivery_status: "test" },
        (row) =>
          row.endpoint_id === endpoint.id && row.event_type === "invoice.paid.late" && row.status === "test",
      ],
      [{ event_type: "nobody.knows" }, () => false],
    ];
    for (const [filter, fits] of cases) {
      const found = await storage.waitFor(await storage.request({ ...range, ...filter }));
      const { event_type, delivery_status, formats } = found;
      const { endpoint_id: _endpoint, ...shown } = {
        event_type: null,
        delivery_status: null,
        endpoint_id: null,
        ...filter,
      };
      assert.deepEqual({ event_type, delivery_status, formats }, { ...shown, formats: ["ndjson"] });
      const rows = ndjsonRows(await unpack(await storage.download(found)));
      const expected = seeded.filter(fits).map(({ id }) => id);
      assert.deepEqual(rows.map((row) => String(row["id"])).toSorted(), expected.toSorted());
      assert.deepEqual([found.progress.rows_total, found.progress.rows_done], [rows.length, rows.length]);
    }
  });

  it("finds the few that fit among many that do not, each once", async () => {
    await seedMany(service.database.pool, "sparse", 4321);
    const ids = await seedDeliveries(
      service.database.pool,
      "sparse",
      ["e1", "e2"].map((seed) => ({
        endpoint_id: randomUUID().slice(0, -2) + seed,
        event_type: "rare.thing",
      })),
    );
    const sparse = storageOf(service, { ...OWNER, tid: "sparse" });
    const found = await sparse.waitFor(await sparse.request({ ...lastHour(), event_type: "rare.thing" }));
    const rows = ndjsonRows(await unpack(await sparse.download(found)));
    assert.deepEqual(rows.map((row) => String(row["id"])).toSorted(), ids.map(({ id }) => id).toSorted());
    const all = await sparse.waitFor(await sparse.request({ ...lastHour(), delivery_status: "test" }));
    const every = ndjsonRows(await unpack(await sparse.download(all))).map((row) => row["id"]);
    assert.deepEqual([every.length, new Set(every).size], [4323, 4323]);
  });

  it("comes as Parquet alone where that is asked for, with types and in row groups", async () => {
    const tid = "columns";
    await seedMany(service.database.pool, tid, 12_000);
    const columns = storageOf(service, { ...OWNER, tid });
    const found = await columns.waitFor(await columns.request({ ...lastHour(), formats: ["parquet"] }));
    const files = await unpackFiles(await columns.download(found));
    assert.deepEqual([...files.keys()], ["parquet/deliveries-00001.parquet", "manifest.json"]);
    const { rows, groups } = await parquetRows(files);
    assert.equal(groups, 5);
    assert.equal(new Set(rows.map((row) => row["id"])).size, 12_000);
    const [row] = rows;
    assert.ok(row?.["created_at"] instanceof Date);
    assert.deepEqual(
      [row["attempt"], row["latency_ms"], row["response_status"], row["sent_at"]],
      [1, 12, 200, null],
    );
    assert.deepEqual(Object.keys(row), EXPORTED_MEMBERS);
  });

  it("holds nothing outside its range, and nothing of another tenant", async () => {
    const at = Date.now() - 7_200_000;
    const [inside] = await seedDeliveries(service.database.pool, "acme", [
      { id: idAt(at) },
      { id: idAt(at - 1) },
      { id: idAt(at + 1) },
    ]);
    await seedDeliveries(service.database.pool, "globex", [{ id: idAt(at) }]);
    const range = { from: new Date(at).toISOString(), to: new Date(at + 1).toISOString() };
    const found = await storage.waitFor(await storage.request(range));
    const rows = ndjsonRows(await unpack(await storage.download(found)));
    assert.deepEqual(
      rows.map((row) => row["id"]),
      [inside?.id],
    );
  });

  it("is kept for as many days as its tenant chose", async () => {
    const tid = "short-of-room";
    await service.database.pool.query(
      "INSERT INTO postern.tenant_settings (tenant_id, artifact_days) VALUES ($1, 3)",
      [tid],
    );
    const short = storageOf(service, { ...OWNER, tid });
    const { created_at } = await short.waitFor(await short.request());
    const expiresAt = (await short.library()).items[0]?.expires_at ?? "";
    assert.equal(Math.round((Date.parse(expiresAt) - Date.parse(created_at)) / 86_400_000), 3);
  });

  it("of an empty range is an archive with its manifest alone", async () => {
    const range = { from: "2020-01-01T00:00:00.000Z", to: "2020-01-02T00:00:00.000Z" };
    const found = await storage.waitFor(await storage.request(range));
    const files = await unpack(await storage.download(found));
    assert.deepEqual([...files.keys()], ["manifest.json"]);
  });

  it("stores a part that deflates too well, instead of making what looks like a bomb", async () => {
    const at = Date.now() - 10_800_000;
    await seedDeliveries(service.database.pool, "acme", [
      { id: idAt(at), request_body: JSON.stringify("x".repeat(900_000)) },
    ]);
    const range = { from: new Date(at).toISOString(), to: new Date(at + 1).toISOString() };
    const found = await storage.waitFor(await storage.request(range));
    const archive = await storage.download(found);
    assert.ok(archive.length > 1_800_000);
    assert.equal(String(ndjsonRows(await unpack(archive))[0]?.["request_body"]).length, 900_002);
  });
});

const told = async (json: unknown) => issuesOf(await storage.call("POST", "/exports", { json }));
const faults = async (json: unknown) => Object.keys(await told(json)).sort();

describe("an export that was ready", () => {
  it("has expired from its archive's deadline on, to the end and in every answer", async () => {
    const { pool } = service.database;
    const { id, object_id } = await storage.waitFor(await storage.request());
    const statusNow = async () => {
      const shown = await storage.get(id);
      const { body } = await storage.call("GET", "/exports?limit=100");
      assert.deepEqual(
        Object(body).exports.find((one: { id: string }) => one.id === id),
        shown,
      );
      assert.equal(shown.object_id, object_id);
      return shown.status;
    };
    const change = async (set: string) =>
      pool.query(`UPDATE postern.stored_objects SET ${set} WHERE id = $1`, [object_id]);
    assert.equal(await statusNow(), "ready");
    await change("deadline = now(), hold = true");
    assert.equal(await statusNow(), "ready");
    await change("hold = false");
    assert.equal(await statusNow(), "expired");
    await change("state = 'purged', deadline = now() + interval '1 day'");
    assert.equal(await statusNow(), "expired");
    await pool.query("DELETE FROM postern.stored_objects WHERE id = $1", [object_id]);
    assert.equal(await statusNow(), "expired");
    const json = { delivery_id: id };
    assertRefused(await storage.call("POST", `/objects/${object_id}/download`, { json }), REFUSED.notFound);
  });

  it("stays so while its bytes are missing, for they may come back", async () => {
    const { id, object_id } = await storage.waitFor(await storage.request());
    await service.database.pool.query("UPDATE postern.stored_objects SET state = 'missing' WHERE id = $1", [
      object_id,
    ]);
    assert.equal((await storage.get(id)).status, "ready");
  });
});

describe("asking for an export", () => {
  const range = lastHour();

  it("needs a session of a user, and settings:write", async () => {
    assertRefused(await storage.call("POST", "/exports", { as: null, json: range }), REFUSED.unauthorized);
    assertRefused(await storage.call("POST", "/exports", { as: MEMBER, json: range }), REFUSED.forbidden);
  });

  it("tells each fault of the input", async () => {
    assert.deepEqual(await faults(null), [""]);
    assert.deepEqual(await faults({}), ["from", "to"]);
    assert.deepEqual(await faults({ ...range, from: "yesterday" }), ["from"]);
    assert.deepEqual(await faults({ ...range, from: "2026-02-30T00:00:00.000Z" }), ["from"]);
    assert.deepEqual(await faults({ ...range, to: 12 }), ["to"]);
    assert.deepEqual(await faults({ ...range, endpoint_id: UNKNOWN_ID.toUpperCase() }), ["endpoint_id"]);
    assert.deepEqual(await faults({ ...range, more: 1 }), [""]);
    for (const event_type of ["", "*", "invoice.", ".*", "a.*.b", "a\0", "é", null, 1, "a".repeat(257)]) {
      assert.deepEqual(await faults({ ...range, event_type }), ["event_type"]);
    }
    for (const delivery_status of ["pending", "", null, ["failed"]]) {
      assert.deepEqual(await faults({ ...range, delivery_status }), ["delivery_status"]);
    }
    for (const formats of [[], ["csv", "csv"], "csv", null]) {
      assert.deepEqual(await faults({ ...range, formats }), ["formats"]);
    }
    assert.deepEqual(await faults({ ...range, formats: ["xlsx"] }), ["formats.0"]);
    const before = "must be before to, and in the past";
    assert.deepEqual(await told({ from: range.to, to: range.from }), { from: before });
    const tooLong = { from: "2020-01-01T00:00:00.000Z", to: range.to };
    assert.deepEqual(await told(tooLong), { to: "must be within 366 days" });
  });

  it("finds no endpoint that the tenant never had", async () => {
    const json = { ...range, endpoint_id: UNKNOWN_ID };
    assertRefused(await storage.call("POST", "/exports", { json }), REFUSED.endpointNotFound);
    const { endpoint } = await createEndpoint(service, { url: service.receiver.url }, { as: OTHER_OWNER });
    const foreign = { ...range, endpoint_id: endpoint.id };
    assertRefused(await storage.call("POST", "/exports", { json: foreign }), REFUSED.endpointNotFound);
  });

  it("is refused while three of the tenant are unfinished, and of another tenant's makes nothing", async () => {
    const at = new Date();
    await service.database.pool.query(
      `INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at, status, lease_owner, lease_until)
        SELECT 'acme', gen_random_uuid(), '', $1::timestamptz - interval '1 hour', $1, status, gen_random_uuid(),
          now() + interval '1 hour'
        FROM unnest('{queued,running,running}'::text[]) AS status`,
      [at],
    );
    const answers = await Promise.all([1, 2].map(() => storage.call("POST", "/exports", { json: range })));
    for (const answer of answers) assertRefused(answer, [409, { error: "Export limit reached" }]);
    await storageOf(service, OTHER_OWNER).request();
    await service.database.pool.query("DELETE FROM postern.storage_exports WHERE lease_owner IS NOT NULL");
  });
});

describe("looking at exports", () => {
  it("shows a tenant its own alone, newest first, page by page", async () => {
    const other = storageOf(service, OTHER_OWNER);
    const foreign = await other.request();
    assertRefused(await storage.call("GET", `/exports/${foreign}`), REFUSED.notFound);
    assertRefused(await storage.call("GET", "/exports/nonsense"), REFUSED.notFound);
    assertRefused(await storage.call("GET", "/exports", { as: null }), REFUSED.unauthorized);
    const newest = await storage.request();
    const { body } = await storage.call("GET", "/exports?limit=100", { as: MEMBER });
    const ids = Object(body).exports.map(({ id }: { id: string }) => id);
    assert.equal(ids[0], newest);
    assert.deepEqual(ids, ids.toSorted().toReversed());
    assert.ok(!ids.includes(foreign));
    const first = await storage.call("GET", "/exports?limit=1");
    const link = /^<(.*)>; rel="next"$/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    assert.equal(link, `/api/storage/exports?limit=1&before=${newest}`);
    const next = await service.call("GET", link);
    assert.deepEqual(
      Object(next.body).exports.map(({ id }: { id: string }) => id),
      [ids[1]],
    );
    const last = await storage.call("GET", `/exports?before=${ids[0]}&limit=${ids.length - 1}`);
    assert.equal(last.headers.get("link"), null);
    assert.deepEqual(
      Object.keys(issuesOf(await storage.call("GET", "/exports?limit=0&before=x"), "Invalid query")).sort(),
      ["before", "limit"],
    );
    await Promise.all([storage.waitFor(newest), other.waitFor(foreign)]);
  });
});
