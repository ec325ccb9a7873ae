/** Everything that a database and a folder still have of a tenant: looked for in every column of every table, and in every file. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ignoreGone } from "./gone.ts";
import type { Pool } from "../../src/database/pool.ts";
import { eventually } from "./eventually.ts";

/** Names of the tables of the schema with a row that has the text in any column, as text or as bytes. */
export async function tablesWith(pool: Pool, text: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c
      WHERE c.relnamespace = 'postern'::regnamespace AND c.relkind = 'r' ORDER BY 1`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await pool.query(
      `SELECT FROM postern.${name} t WHERE position($1 IN to_jsonb(t)::text) > 0 OR position($2 IN to_jsonb(t)::text) > 0 LIMIT 1`,
      [text, Buffer.from(text).toString("hex")],
    );
    if (rowCount === 1) found.push(name.replace(/^(events|deliveries)_.*$/, "$1"));
  }
  return [...new Set(found)];
}

/** Files below a folder whose path or content has the text. When one is moved meanwhile, as a finished upload is, it looks again. */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  return eventually(() => lookForFiles(folder, text).catch(ignoreGone));
}

async function lookForFiles(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found: string[] = [];
  for (const file of files)
    if (file.includes(text) || (await readFile(file)).includes(text)) found.push(file);
  return found;
}
