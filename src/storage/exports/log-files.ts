/** The files of a part: the same rows of the log, in each form that was asked for. */
import { CSV_HEADER, csvLine, ndjsonLine } from "./log-row.ts";
import type { ExportFormat } from "./log-export.ts";
import { openParquet } from "./parquet.ts";
import type { LogFile, PartFile } from "./part-file.ts";

/** Writes the form into a file, beginning with its header where it has one. */
export function openLogFile(format: ExportFormat, file: PartFile): LogFile {
  if (format === "parquet") return openParquet(file);
  const line = format === "csv" ? csvLine : ndjsonLine;
  let head = format === "csv" ? CSV_HEADER : "";
  return {
    ...file,
    async add(rows) {
      const text = head + rows.map(line).join("");
      head = "";
      await file.writeText(text);
    },
  };
}
