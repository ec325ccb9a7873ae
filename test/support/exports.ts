/** What tests of exports do again and again: rows of a log, asking, waiting, and reading an archive by other programs. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import * as z from "zod";
import { artifactObject, exportObject } from "../../src/api/storage-schemas.ts";
import type { Pool } from "../../src/database/pool.ts";
import { idAt } from "../../src/shared/id.ts";
import type { ApiAnswer, CallOptions, Claims } from "./calls.ts";
import { eventually } from "./eventually.ts";

export type Caller = { call(method: string, path: string, options?: CallOptions): Promise<ApiAnswer> };
export type Export = z.infer<typeof exportObject>;
export type Artifact = z.infer<typeof artifactObject>;
/** A row as it is in the table, without its tenant. */
export type SeededRow = {
  id: string;
  endpoint_id: string;
  request_body: string | null;
  request_headers: Record<string, string>;
  response_headers: Record<string, string> | null;
  response_body: string | null;
  error: string | null;
  event_type: string;
  status: string;
};

const link = z.strictObject({ url: z.string(), expires_at: z.string() });
const library = z.strictObject({ items: z.array(artifactObject.strict()), next: z.string().nullable() });

/** A time range that holds all that is seeded at `minutesAgo` below an hour. */
export function lastHour(): { from: string; to: string } {
  const now = Date.now();
  return { from: new Date(now - 3_600_000).toISOString(), to: new Date(now + 3_600_000).toISOString() };
}

export async function seedDeliveries(
  pool: Pool,
  tenantId: string,
  rows: readonly Partial<SeededRow>[],
): Promise<SeededRow[]> {
  const complete = rows.map((row) => ({
    id: idAt(Date.now() - 600_000),
    endpoint_id: "0190a5b1-7c00-7000-8000-0000000000aa",
    request_body: "{}",
    request_headers: {},
    response_headers: null,
    response_body: null,
    error: null,
    event_type: "invoice.paid",
    status: "test",
    ...row,
  }));
  for (const row of complete) {
    await pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, test_id, event_type, trigger, status, attempt,
          request_body, request_headers, response_status, response_headers, response_body, latency_ms, error)
        VALUES ($1, $2, $3, $3, $9, 'test', $10, 1, $4, $5, 200, $6, $7, 12, $8)`,
      [
        tenantId,
        row.endpoint_id,
        row.id,
        row.request_body,
        JSON.stringify(row.request_headers),
        row.response_headers === null ? null : JSON.stringify(row.response_headers),
        row.response_body,
        row.error,
        row.event_type,
        row.status,
      ],
    );
  }
  return complete;
}

/** So many plain rows, in one statement. */
export async function seedMany(pool: Pool, tenantId: string, count: number): Promise<void> {
  await pool.query(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, test_id, event_type, trigger, status, attempt,
        request_body, request_headers, response_status, response_headers, response_body, latency_ms)
      SELECT $1, md5('e' || n % 3)::uuid,
        overlay(postern.lowest_id_at(now() - interval '10 minutes')::text placing right(gen_random_uuid()::text, 21) from 16)::uuid,
        gen_random_uuid(), 'invoice.paid', 'test', 'test', 1, md5(n::text), '{"A":"b"}', 200, '{}', 'ok', 12
      FROM generate_series(1, $2::int) n`,
    [tenantId, count],
  );
}

/** The storage API with one tenant's session. */
export function storageOf(caller: Caller, as?: Claims) {
  const call = (method: string, path: string, options: CallOptions = {}) =>
    caller.call(method, `/api/storage${path}`, { ...(as === undefined ? {} : { as }), ...options });

  async function get(id: string): Promise<Export> {
    const answer = await call("GET", `/exports/${id}`);
    assert.equal(answer.status, 200, answer.text);
    return exportObject.strict().parse(answer.body);
  }

  return {
    call,
    get,
    async request(range: object = lastHour()): Promise<string> {
      const answer = await call("POST", "/exports", { json: range });
      assert.equal(answer.status, 202, answer.text);
      return z.strictObject({ id: z.string() }).parse(answer.body).id;
    },
    waitFor(id: string, status: Export["status"] = "ready"): Promise<Export> {
      return eventually(async () => {
        const found = await get(id);
        assert.ok(found.status !== "failed" || status === "failed", found.error ?? "");
        return found.status === status && found;
      });
    },
    async library(query = "") {
      const answer = await call("GET", `/library${query}`);
      assert.equal(answer.status, 200, answer.text);
      return library.parse(answer.body);
    },
    async link(item: Pick<Artifact, "id" | "delivery_id">, json: object = {}) {
      const answer = await call("POST", `/objects/${item.id}/download`, {
        json: { delivery_id: item.delivery_id, ...json },
      });
      assert.equal(answer.status, 201, answer.text);
      return { ...link.parse(answer.body), headers: answer.headers };
    },
    /** The bytes of an export that is ready. */
    async download(found: Export): Promise<Buffer<ArrayBuffer>> {
      const { url } = await this.link({ id: found.object_id ?? "", delivery_id: found.id });
      const answer = await fetch(url);
      assert.equal(answer.status, 200);
      return Buffer.from(await answer.arrayBuffer());
    },
  };
}

const UNPACK = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    archive.extractall(sys.argv[2])
    print("\\n".join(archive.namelist()))
`;

/** Unpacks by Python, which also compares every checksum: texts by name, in the archive's order. */
export async function unpack(archive: Buffer): Promise<Map<string, string>> {
  return new Map([...(await unpackFiles(archive))].map(([name, bytes]) => [name, bytes.toString("utf8")]));
}

export async function unpackFiles(archive: Buffer): Promise<Map<string, Buffer<ArrayBuffer>>> {
  const folder = await mkdtemp(join(tmpdir(), "postern-unpack-"));
  try {
    const file = join(folder, "archive.zip");
    await writeFile(file, archive);
    const { status, stdout, stderr } = spawnSync("python3", ["-c", UNPACK, file, folder], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    const names = stdout.trim().split("\n");
    const files = names.map(async (name) => [name, Buffer.from(await readFile(join(folder, name)))] as const);
    return new Map(await Promise.all(files));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The rows of every NDJSON file, in order. */
export function ndjsonRows(files: Map<string, string>): Record<string, unknown>[] {
  return namesIn(files, "ndjson").flatMap((name) =>
    (files.get(name) ?? "")
      .split("\n")
      .slice(0, -1)
      .map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line))),
  );
}

/** The rows of every CSV file by the names of its header, texts as they were: null for an empty cell without quotes. */
export function csvRows(files: Map<string, string>): Record<string, string | null>[] {
  return namesIn(files, "csv").flatMap((name) => {
    const [header = [], ...records] = parseCsv(files.get(name) ?? "");
    return records.map((cells) => {
      assert.equal(cells.length, header.length);
      return Object.fromEntries(header.map((column, index) => [String(column), cells[index] ?? null]));
    });
  });
}

// The reader's own takes a byte order mark off the beginning of a text.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const parsers = { stringFromBytes: (bytes: Uint8Array | undefined) => bytes && utf8.decode(bytes) };

/** The rows of every Parquet file, in order, and how many row groups they were in. */
export async function parquetRows(files: Map<string, Buffer<ArrayBuffer>>) {
  const rows: Record<string, unknown>[] = [];
  let groups = 0;
  for (const name of namesIn(files, "parquet")) {
    const bytes = files.get(name) ?? Buffer.alloc(0);
    // A reader counts from the first byte of its buffer.
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    groups += parquetMetadata(file).row_groups.length;
    rows.push(...(await parquetReadObjects({ file, parsers })));
  }
  return { rows, groups };
}

function namesIn(files: Map<string, unknown>, folder: string): string[] {
  return [...files.keys()].filter((name) => name.startsWith(`${folder}/`)).sort();
}

/** RFC 4180, and the apostrophe taken off that keeps a spreadsheet from running a text. */
export function parseCsv(text: string): (string | null)[][] {
  const records: (string | null)[][] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  let record: (string | null)[] = [];
  while (cell.lastIndex < text.length) {
    const found = cell.exec(text);
    assert.ok(found !== null, "not RFC 4180");
    const [, quoted, plain = "", end] = found;
    record.push(quoted === undefined ? plain || null : quoted.replaceAll('""', '"').replace(/^'/, ""));
    if (end !== "\r\n") continue;
    records.push(record);
    record = [];
  }
  return records;
}
