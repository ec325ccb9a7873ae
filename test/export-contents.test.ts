/** Whatever a log holds, an archive of it gives back. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import * as fc from "fast-check";
import { idAt } from "../src/shared/id.ts";
import {
  csvRows,
  ndjsonRows,
  parquetRows,
  seedDeliveries,
  storageOf,
  unpack,
  unpackFiles,
  type SeededRow,
} from "./support/exports.ts";
import { startTestService, type TestService } from "./support/service.ts";

let dataDir: string;
let service: TestService;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "postern-contents-"));
  service = await startTestService({ env: { DATA_DIR: dataDir } });
});
after(async () => {
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
});

// What PostgreSQL's text can hold: no NUL, no half of a surrogate pair. Headers are JSON, which can hold both.
const HOSTILE = [
  "=1+1",
  "+",
  "-",
  "@",
  "'",
  '"',
  ",",
  "\r\n",
  "\n",
  "\t",
  "\u2028",
  "\u0001",
  "😀",
  "\ufeff",
  "é",
  "＝",
  "\\",
];
const character = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
);
const text = fc.array(character, { maxLength: 12 }).map((parts) => parts.join("").replaceAll("\0", ""));
const anyText = fc.oneof(text, fc.constantFrom("\0", "\ud800", "\udc00x", "a\0b"));
const headers = fc.dictionary(anyText, anyText, { maxKeys: 4 });
const row = fc.record({
  request_body: text,
  request_headers: headers,
  response_headers: fc.option(headers),
  response_body: fc.option(text),
  error: fc.option(text),
});

let used = 0;

describe("an export of any deliveries", () => {
  it("gives each back as it was, in NDJSON, CSV and Parquet", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 8 }), async (given) => {
        // A minute of its own for each try.
        const at = Date.now() - 86_400_000 - ++used * 60_000;
        const rows = given.map((one) => ({ ...plain(one), id: idAt(at) }));
        const seeded = (await seedDeliveries(service.database.pool, "acme", rows)).toSorted((one, other) =>
          one.id < other.id ? -1 : 1,
        );
        const storage = storageOf(service);
        const range = {
          from: new Date(at).toISOString(),
          to: new Date(at + 1).toISOString(),
          formats: ["ndjson", "csv", "parquet"],
        };
        const found = await storage.waitFor(await storage.request(range));
        const archive = await storage.download(found);
        const files = await unpack(archive);
        assert.deepEqual(ndjsonRows(files).map(pick), seeded.map(pick));
        assert.deepEqual(csvRows(files).map(withHeaders).map(pick), seeded.map(pick));
        const parquet = await parquetRows(await unpackFiles(archive));
        assert.deepEqual(parquet.rows.map(withHeaders).map(pick), seeded.map(pick));
      }),
      { numRuns: 12 },
    );
  });
});

/** In a table's cell, headers are JSON. */
function withHeaders(record: Record<string, unknown>): Record<string, unknown> {
  const read = (name: string): unknown => JSON.parse(String(record[name]));
  return {
    ...record,
    request_headers: read("request_headers"),
    response_headers: read("response_headers"),
  };
}

/** Without the null prototypes of generated objects. */
function plain<T>(value: T): T {
  const copy: T = JSON.parse(JSON.stringify(value));
  return copy;
}

function pick(found: Record<string, unknown> | SeededRow) {
  const { id, endpoint_id, request_body, request_headers, response_headers, response_body, error } = found;
  return { id, endpoint_id, request_body, request_headers, response_headers, response_body, error };
}
