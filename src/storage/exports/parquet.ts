/** Rows of the log as Apache Parquet, written row group by row group. */
import { ByteWriter, ParquetWriter, schemaFromColumnData, type BasicType } from "hyparquet-writer";
import { cellOf, LOG_COLUMNS, type LogColumn } from "./log-row.ts";
import type { LogFile, PartFile } from "./part-file.ts";

/** The limits of memory: either ends a row group. */
const GROUP_ROWS = 2500;
const GROUP_BODY_LENGTH = 4 * 1024 * 1024;

type Column = { type: BasicType; nullable: boolean };
const TEXT: Column = { type: "STRING", nullable: false };
const TEXT_OR_NULL: Column = { type: "STRING", nullable: true };
const NUMBER: Column = { type: "INT32", nullable: false };

const COLUMNS: Record<LogColumn, Column> = {
  id: TEXT,
  endpoint_id: TEXT,
  event_id: TEXT_OR_NULL,
  event_type: TEXT,
  event_version: NUMBER,
  trigger: TEXT,
  replay_id: TEXT_OR_NULL,
  status: TEXT,
  attempt: NUMBER,
  request_headers: TEXT,
  request_body: TEXT_OR_NULL,
  response_status: { ...NUMBER, nullable: true },
  response_headers: TEXT_OR_NULL,
  response_body: TEXT_OR_NULL,
  latency_ms: NUMBER,
  error: TEXT_OR_NULL,
  sent_at: { type: "TIMESTAMP", nullable: true },
  created_at: { type: "TIMESTAMP", nullable: false },
};

export function openParquet(file: PartFile): LogFile {
  const bytes = new ByteWriter();
  const schema = schemaFromColumnData({ columnData: emptyColumns() });
  const parquet = new ParquetWriter({ writer: bytes, schema, createdBy: "Postern" });
  let columns = emptyColumns();
  let bodyLength = 0;

  /** The library encodes without waiting; what it made is then handed on, and its buffer used again. */
  async function handOn(): Promise<void> {
    await file.write(bytes.getBytes());
    bytes.index = 0;
  }

  async function endGroup(): Promise<void> {
    const columnData = columns;
    columns = emptyColumns();
    bodyLength = 0;
    await parquet.write({ columnData, rowGroupSize: GROUP_ROWS });
    await handOn();
  }

  return {
    ...file,
    async add(rows) {
      for (const row of rows) {
        for (const { name, data } of columns) data.push(cellOf(row, name));
        bodyLength += (row.request_body?.length ?? 0) + (row.response_body?.length ?? 0);
        if ((columns[0]?.data.length ?? 0) >= GROUP_ROWS || bodyLength >= GROUP_BODY_LENGTH) await endGroup();
      }
    },
    async finish() {
      await endGroup();
      await parquet.finish();
      await handOn();
      return file.finish();
    },
  };
}

function emptyColumns() {
  return LOG_COLUMNS.map((name) => {
    const data: (string | number | Date | null)[] = [];
    const { type, nullable } = COLUMNS[name];
    return { name, data, type, nullable };
  });
}
