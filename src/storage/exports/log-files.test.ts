/** The rows of the log in each form of an export, letter by letter. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parquetMetadata } from "hyparquet";
import { parquetRows } from "../../../test/support/exports.ts";
import { idAt, parseDeliveryId, parseEndpointId } from "../../shared/id.ts";
import { openLogFile } from "./log-files.ts";
import type { ExportFormat } from "./log-export.ts";
import { cellOf, csvLine, CSV_HEADER, ndjsonLine, type LogRow } from "./log-row.ts";
import type { PartFile } from "./part-file.ts";

const AT = Date.parse("2026-03-01T12:00:00.123Z");
const ID = parseDeliveryId(idAt(AT));
const ENDPOINT = parseEndpointId(idAt(AT - 1000));
assert.ok(ID !== null && ENDPOINT !== null);

const ROW: LogRow = {
  id: ID,
  endpoint_id: ENDPOINT,
  event_id: "evt",
  event_type: "invoice.paid",
  event_version: 3,
  trigger: "event",
  replay_id: "rep",
  status: "delivered",
  attempt: 2,
  request_headers: { "X-A": "1" },
  request_body: '{"a":"b"}',
  response_status: 200,
  response_headers: { b: "2" },
  response_body: "ok",
  latency_ms: 12,
  error: "none",
  sent_at: new Date(AT + 5),
};
const EMPTY: LogRow = {
  ...ROW,
  event_id: null,
  replay_id: null,
  request_headers: {},
  request_body: null,
  response_status: null,
  response_headers: null,
  response_body: null,
  error: null,
  sent_at: null,
};

/** A file in memory. */
function memoryFile() {
  const chunks: Buffer[] = [];
  const write = (bytes: Uint8Array) => {
    // The writer uses its memory again.
    chunks.push(Buffer.from(Uint8Array.from(bytes)));
    return Promise.resolve();
  };
  const file: PartFile = {
    size: () => chunks.reduce((sum, { length }) => sum + length, 0),
    write,
    writeText: (text) => write(Buffer.from(text)),
    finish: () =>
      Promise.resolve({
        id: "id",
        path: "path",
        size: 1,
        sha256: "",
        crc32: 0,
        method: 0,
        compressed_size: 1,
      }),
    discard: () => Promise.resolve(),
  };
  return { file, chunks, bytes: () => Buffer.concat(chunks) };
}

async function written(format: ExportFormat, ...pages: (readonly LogRow[])[]): Promise<Buffer<ArrayBuffer>> {
  const { file, bytes } = memoryFile();
  const log = openLogFile(format, file);
  for (const page of pages) await log.add(page);
  assert.equal((await log.finish()).id, "id");
  assert.equal(log.size(), file.size());
  return bytes();
}

describe("a row of NDJSON", () => {
  it("has the members of the API's delivery, in its order", () => {
    const headers = JSON.stringify(JSON.parse(ndjsonLine(ROW)).request_headers);
    assert.match(headers, /"X-A":"1"/);
    assert.equal(
      ndjsonLine(ROW),
      `{"id":"${ID}","endpoint_id":"${ENDPOINT}","event_id":"evt","event_type":"invoice.paid","event_version":3,` +
        `"trigger":"event","replay_id":"rep","status":"delivered","attempt":2,"request_headers":${headers},` +
        `"request_body":"{\\"a\\":\\"b\\"}","response_status":200,"response_headers":{"b":"2"},"response_body":"ok",` +
        `"latency_ms":12,"error":"none","next_attempt_at":null,"sent_at":"2026-03-01T12:00:00.128Z",` +
        `"created_at":"2026-03-01T12:00:00.123Z"}\n`,
    );
    assert.deepEqual(
      Object.entries(JSON.parse(ndjsonLine(EMPTY)))
        .filter(([, value]) => value === null)
        .map(([name]) => name),
      [
        "event_id",
        "replay_id",
        "request_body",
        "response_status",
        "response_headers",
        "response_body",
        "error",
        "next_attempt_at",
        "sent_at",
      ],
    );
  });
});

describe("a row of CSV", () => {
  it("has the same members but for the time of the next attempt, headers as JSON", () => {
    assert.equal(
      CSV_HEADER,
      `"id","endpoint_id","event_id","event_type","event_version","trigger","replay_id","status","attempt",` +
        `"request_headers","request_body","response_status","response_headers","response_body","latency_ms","error",` +
        `"sent_at","created_at"\r\n`,
    );
    const headers = String(cellOf(ROW, "request_headers")).replaceAll('"', '""');
    assert.equal(
      csvLine(ROW),
      `"${ID}","${ENDPOINT}","evt","invoice.paid",3,"event","rep","delivered",2,"${headers}","{""a"":""b""}",200,` +
        `"{""b"":""2""}","ok",12,"none","2026-03-01T12:00:00.128Z","2026-03-01T12:00:00.123Z"\r\n`,
    );
    assert.match(
      csvLine(EMPTY),
      /,"event",,"delivered",2,"[^,]*(?:,""[^,]*)*",,,,,12,,,"2026-03-01T12:00:00.123Z"\r\n$/,
    );
  });
});

const cells = (row: LogRow) =>
  Object.fromEntries(
    CSV_HEADER.trim()
      .split(",")
      .map((name) => JSON.parse(name))
      .map((column) => [column, cellOf(row, column)]),
  );

const groupsOf = async (rows: readonly LogRow[]) => {
  const bytes = await written("parquet", rows);
  const read = await parquetRows(new Map([["parquet/a.parquet", bytes]]));
  assert.equal(read.rows.length, rows.length);
  return read.groups;
};

describe("a file of the log", () => {
  it("begins with the header where its form has one, once", async () => {
    const twice = [[ROW], [EMPTY, ROW]] as const;
    const lines = (line: (row: LogRow) => string) => [ROW, EMPTY, ROW].map(line).join("");
    assert.equal((await written("ndjson", ...twice)).toString(), lines(ndjsonLine));
    assert.equal((await written("csv", ...twice)).toString(), CSV_HEADER + lines(csvLine));
    assert.equal((await written("csv", [])).toString(), CSV_HEADER);
    assert.equal((await written("ndjson", [])).toString(), "");
  });

  it("gives back its rows as Parquet, with nulls and with times as times", async () => {
    const read = await parquetRows(
      new Map([["parquet/a.parquet", await written("parquet", [ROW], [EMPTY])]]),
    );
    assert.deepEqual(read, { rows: [cells(ROW), cells(EMPTY)], groups: 1 });
    assert.deepEqual(read.rows[0]?.["created_at"], new Date(AT));
  });

  it("says of each column of Parquet what it holds, also where it holds nothing", async () => {
    const bytes = await written("parquet", []);
    const { created_by: by, schema } = parquetMetadata(
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    );
    assert.equal(by, "Postern");
    const [root, ...columns] = schema.map(
      ({ name, type, converted_type: kind, repetition_type: repetition }) =>
        [name, kind ?? type, repetition === "OPTIONAL" ? "or null" : ""].join(" ").trim(),
    );
    assert.deepEqual(root, "root");
    assert.deepEqual(columns, [
      "id UTF8",
      "endpoint_id UTF8",
      "event_id UTF8 or null",
      "event_type UTF8",
      "event_version INT32",
      "trigger UTF8",
      "replay_id UTF8 or null",
      "status UTF8",
      "attempt INT32",
      "request_headers UTF8",
      "request_body UTF8 or null",
      "response_status INT32 or null",
      "response_headers UTF8 or null",
      "response_body UTF8 or null",
      "latency_ms INT32",
      "error UTF8 or null",
      "sent_at TIMESTAMP_MILLIS or null",
      "created_at TIMESTAMP_MILLIS",
    ]);
  });

  it("hands on a group of Parquet's rows at 2,500 rows, and where bodies take 4 MiB", async () => {
    const many = (count: number, row: LogRow = EMPTY) => Array.from({ length: count }, () => row);
    assert.equal(await groupsOf(many(2499)), 1);
    assert.equal(await groupsOf(many(2501)), 2);
    const half = "x".repeat(2 * 1024 * 1024);
    const large = { ...EMPTY, request_body: half, response_body: half };
    assert.equal(await groupsOf([large, ROW]), 2);
    assert.equal(await groupsOf([{ ...large, response_body: half.slice(1) }, EMPTY]), 1);
    assert.equal(await groupsOf([large, { ...large, request_body: null }, EMPTY]), 2);
  });

  it("is given back in pieces while rows are added, not at its end alone", async () => {
    const { file, chunks } = memoryFile();
    const log = openLogFile("parquet", file);
    await log.add(Array.from({ length: 2499 }, () => EMPTY));
    assert.equal(log.size(), 0);
    await log.add([EMPTY]);
    assert.ok(log.size() > 0);
    assert.equal(chunks.length, 1);
  });
});
