/** Whether a commit is on the database's own disk before it is answered. */
import type { Db } from "../pool.ts";

/** As PostgreSQL shows them to this user, in this database. */
type CommitSettings = { synchronousCommit: string; fsync: string };

export async function readCommitSettings(db: Db): Promise<CommitSettings> {
  const { rows } = await db.query<CommitSettings>(
    /* sql */ `SELECT current_setting('synchronous_commit') AS "synchronousCommit", current_setting('fsync') AS fsync`,
  );
  return rows[0] ?? { synchronousCommit: "", fsync: "" };
}

/** Why a crash may lose a commit that was answered, and what to do; null where it can't. */
export function crashTrouble(settings: CommitSettings): { detail: string; fix: string } | null {
  if (settings.fsync === "off") {
    return {
      detail:
        "a crash of the database's machine may lose accepted events, or the whole database: fsync is off",
      fix: "set fsync = on for the server",
    };
  }
  if (settings.synchronousCommit === "off") {
    return {
      detail: "a crash of the database may lose accepted events: synchronous_commit is off",
      fix: "set synchronous_commit = on for the server, and for the user and the database of DATABASE_URL",
    };
  }
  return null;
}
