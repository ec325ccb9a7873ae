/** What a server, and a database on it, must be before anything is done there. */
import { ConfigError } from "../shared/config-error.ts";
import type { Db, Pool } from "./pool.ts";

const OLDEST_POSTGRES = 15;
/** Events and answers have any character. Under SQL_ASCII, `jsonb` refuses escapes such as \u00fc. */
export const ENCODING = "UTF8";

/** `version` as the server writes it, for example `16.4 (Debian 16.4-1)`; `encoding` as it stores texts. */
export type DatabaseServer = { version: string; encoding: string };

export async function readServer(db: Db): Promise<DatabaseServer> {
  const { rows } = await db.query<DatabaseServer>(
    /* sql */ `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding`,
  );
  return rows[0] ?? { version: "", encoding: "" };
}

/** As a standby is, or by a setting of the server, the database or the user. */
export async function isReadOnly(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ is_read_only: boolean }>(
    /* sql */ `SELECT current_setting('transaction_read_only') = 'on' AS is_read_only`,
  );
  return rows[0]?.is_read_only === true;
}

/**
 * Takes new pages and gives them back: on a full disk rows still find room in old ones. Nothing is
 * committed, for that would wait where no standby answers. Throws what the server refuses.
 */
export async function tryNewPages(db: Pool): Promise<void> {
  const client = await db.connect();
  let isWhole = false;
  try {
    // In the tablespace where rows go, not where an administrator has those of queries put.
    await client.query("BEGIN; SET LOCAL temp_tablespaces = ''");
    await client.query(
      /* sql */ `CREATE TEMP TABLE postern_new_pages AS SELECT repeat('x', 1000) AS filling FROM generate_series(1, 100)`,
    );
    await client.query("ROLLBACK");
    isWhole = true;
  } finally {
    // Where it failed, the end of the connection ends the transaction.
    client.release(!isWhole);
  }
}

/** Why Postern can't work there, and what to do; null where it can. */
export function findUnfit({ version, encoding }: DatabaseServer): { fault: string; fix: string } | null {
  if (!(Number.parseInt(version, 10) >= OLDEST_POSTGRES)) {
    return {
      fault: `is PostgreSQL ${version}: Postern needs ${OLDEST_POSTGRES} or newer`,
      fix: `use PostgreSQL ${OLDEST_POSTGRES} or newer`,
    };
  }
  if (encoding !== ENCODING) {
    return {
      fault: `stores texts in the encoding ${encoding}: Postern needs ${ENCODING}`,
      fix: `create a database with TEMPLATE template0 ENCODING '${ENCODING}', and restore a dump of this one there if it has data`,
    };
  }
  return null;
}

/** Throws ConfigError where it can't work, before anything is changed there. */
export async function requireSupported(db: Db): Promise<void> {
  const unfit = findUnfit(await readServer(db));
  if (unfit === null) return;
  throw new ConfigError(`the database ${unfit.fault}, and has changed nothing: ${unfit.fix}`);
}
