/**
 * Records of comma-separated values (RFC 4180), safe to open in a spreadsheet.
 *
 * A spreadsheet runs a cell that begins like a formula. Such a text gets an
 * apostrophe before it, and so does one that begins with an apostrophe, so
 * that taking one away always gives the text back.
 */
const FORMULA_START = /^[=+\-@\t\r\n'\uFF1D\uFF0B\uFF0D\uFF20]/;

/** One record with its line end. Texts are always in quotes: an empty cell without them is null. */
export function csvRecord(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(cell: string | number | null): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const safe = FORMULA_START.test(cell) ? `'${cell}` : cell;
  return `"${safe.replaceAll('"', '""')}"`;
}
