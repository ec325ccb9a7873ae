/** What the database remembers of the files that made its schema. */
import type { Db } from "../pool.ts";
import type { FunctionFile, Migration, NumberedMigration } from "./migration-files.ts";

export type AppliedMigration = { version: number; name: string; sha256: string };
/** Every text that a function ever had here, by file; the last one of each is in force. */
export type FunctionTexts = Map<string, string[]>;

/** Makes the ledger where it is missing. Needs the role `postern_worker`, which reads it for `/ready`. */
export async function createLedger(db: Db): Promise<void> {
  await db.query(/* sql */ `
    CREATE SCHEMA IF NOT EXISTS postern;
    CREATE TABLE IF NOT EXISTS postern.schema_migrations (
      version    integer PRIMARY KEY,
      name       text NOT NULL,
      sha256     text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`);
  if (await exists(db, "postern.schema_functions")) return;
  await db.query(/* sql */ `
    CREATE TABLE postern.schema_functions (
      id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      file       text NOT NULL,
      sha256     text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (file, sha256)
    );
    GRANT SELECT ON postern.schema_functions TO postern_worker`);
}

/** In order of their numbers; none in a database without a ledger. */
export async function readAppliedMigrations(db: Db): Promise<AppliedMigration[]> {
  if (!(await exists(db, "postern.schema_migrations"))) return [];
  const { rows } = await db.query<AppliedMigration>(
    /* sql */ `SELECT version, name, sha256 FROM postern.schema_migrations ORDER BY version`,
  );
  return rows;
}

export async function readFunctionTexts(db: Db): Promise<FunctionTexts> {
  const texts: FunctionTexts = new Map();
  if (!(await exists(db, "postern.schema_functions"))) return texts;
  const { rows } = await db.query<{ file: string; sha256: string }>(
    /* sql */ `SELECT file, sha256 FROM postern.schema_functions ORDER BY id`,
  );
  for (const { file, sha256 } of rows) texts.set(file, [...(texts.get(file) ?? []), sha256]);
  return texts;
}

export async function recordApplied(db: Db, migration: Migration): Promise<void> {
  if (migration.version === null) await recordFunction(db, migration);
  else await recordMigration(db, migration);
}

async function recordMigration(db: Db, { version, name, sha256 }: NumberedMigration): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.schema_migrations (version, name, sha256) VALUES ($1, $2, $3)`,
    [version, name, sha256],
  );
}

async function recordFunction(db: Db, { file, sha256 }: FunctionFile): Promise<void> {
  await db.query(/* sql */ `INSERT INTO postern.schema_functions (file, sha256) VALUES ($1, $2)`, [
    file,
    sha256,
  ]);
}

async function exists(db: Db, table: string): Promise<boolean> {
  const { rows } = await db.query<{ exists: boolean }>(
    /* sql */ `SELECT to_regclass($1) IS NOT NULL AS exists`,
    [table],
  );
  return rows[0]?.exists === true;
}
