/**
 * The files that make the schema.
 *
 * `migrations/NNNN_name.sql` is a numbered migration: applied once, frozen
 * afterwards. `migrations/functions/name.sql` is the present text of one SQL
 * function: applied again whenever the text changes.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../../shared/error-code.ts";

type SqlFile = {
  name: string;
  /** Its path below the folder of migrations. */
  file: string;
  sha256: string;
  sql: string;
};

export type NumberedMigration = SqlFile & { version: number };
/** The text of an SQL function. */
export type FunctionFile = SqlFile & { version: null };
export type Migration = NumberedMigration | FunctionFile;

const FUNCTIONS = "functions";
const MIGRATION_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const FUNCTION_NAME = /^([a-z0-9_]+)\.sql$/;

/**
 * Reads a folder of migrations in the order in which they are applied: those
 * with numbers, then the functions. Throws on a `.sql` name that does not fit,
 * or a number used twice.
 */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await sqlFiles(folder)).map((file) => {
    const [, digits, name] = MIGRATION_NAME.exec(file) ?? [];
    if (digits === undefined || name === undefined) {
      throw new Error(`${join(folder, file)} is not named like 0001_create_endpoints.sql. Rename it.`);
    }
    return { file, name, version: Number(digits) };
  });
  for (const [index, { file, version }] of names.entries()) {
    const before = names[index - 1];
    if (before?.version === version) {
      throw new Error(`${before.file} and ${file} have the same number. Renumber the newer one.`);
    }
  }
  const functions = (await sqlFiles(join(folder, FUNCTIONS)).catch(noneIfMissing)).map((file) => {
    const [, name] = FUNCTION_NAME.exec(file) ?? [];
    if (name === undefined) {
      throw new Error(`${join(folder, FUNCTIONS, file)} is not named like publish.sql. Rename it.`);
    }
    return { file: `${FUNCTIONS}/${file}`, name, version: null };
  });
  return [
    ...(await Promise.all(names.map((one) => readSql(folder, one)))),
    ...(await Promise.all(functions.map((one) => readSql(folder, one)))),
  ];
}

export function isNumbered(migration: Migration): migration is NumberedMigration {
  return migration.version !== null;
}

export function isFunction(migration: Migration): migration is FunctionFile {
  return migration.version === null;
}

async function sqlFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
}

function noneIfMissing(error: unknown): string[] {
  if (hasCode(error, "ENOENT")) return [];
  throw error;
}

async function readSql<File extends { file: string }>(
  folder: string,
  file: File,
): Promise<File & Pick<SqlFile, "sql" | "sha256">> {
  // A checkout with other line ends is the same migration.
  const sql = (await readFile(join(folder, file.file), "utf8")).replaceAll("\r\n", "\n");
  return { ...file, sql, sha256: createHash("sha256").update(sql).digest("hex") };
}
