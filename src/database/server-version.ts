import { ConfigError } from "../shared/config-error.ts";
import type { Db } from "./pool.ts";

export const OLDEST_POSTGRES = 15;

/** PostgreSQL's version as the server writes it, for example `16.4 (Debian 16.4-1)`. */
export async function readServerVersion(db: Db): Promise<string> {
  const { rows } = await db.query<{ version: string }>(
    /* sql */ `SELECT current_setting('server_version') AS version`,
  );
  return rows[0]?.version ?? "";
}

/** @param version as {@link readServerVersion} answers it */
export function isSupported(version: string): boolean {
  return Number.parseInt(version, 10) >= OLDEST_POSTGRES;
}

/** Throws ConfigError on a server that is too old, before anything is changed there. */
export async function requireSupported(db: Db): Promise<void> {
  const version = await readServerVersion(db);
  if (!isSupported(version)) {
    throw new ConfigError(
      `the database is PostgreSQL ${version}: Postern needs ${OLDEST_POSTGRES} or newer, and has changed nothing`,
    );
  }
}
