import type { Db } from "./pool.ts";

/** PostgreSQL's version as the server writes it, for example `16.4 (Debian 16.4-1)`. */
export async function readServerVersion(db: Db): Promise<string> {
  const { rows } = await db.query<{ version: string }>(
    /* sql */ `SELECT current_setting('server_version') AS version`,
  );
  return rows[0]?.version ?? "";
}
