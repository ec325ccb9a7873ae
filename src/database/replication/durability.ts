/** Whether a commit is on a second machine before it is answered. Pure. */
import type { Replication, Standby } from "./replication-store.ts";

export const STANDBY_GRANT = "GRANT pg_read_all_stats TO postern_worker";

/** With `remote_write` a standby has the commit only in memory, and with `local` and `off` commits wait for no standby. */
const WAITS_FOR_STANDBY = new Set(["on", "remote_apply"]);

/** Why a failover may lose a commit that was answered, and what to do; null where it can't. */
export function durabilityTrouble(replication: Replication): { detail: string; fix: string } | null {
  const { standbyNames, synchronousCommit, standbys } = replication;
  if (standbyNames.trim() === "") {
    return {
      detail: "the database has no synchronous standby: synchronous_standby_names is empty",
      fix: "name the standbys on the primary, as in synchronous_standby_names = 'ANY 1 (standby_a, standby_b)'",
    };
  }
  if (!WAITS_FOR_STANDBY.has(synchronousCommit)) {
    return {
      detail: `the database's commits don't wait for a standby's disk: synchronous_commit is ${synchronousCommit}`,
      fix: "set synchronous_commit = on for the server, and for the user and the database of DATABASE_URL",
    };
  }
  if (standbys === null) {
    return {
      detail: "whether a synchronous standby follows the database is unknown: pg_stat_replication is hidden",
      fix: `let an administrator run: ${STANDBY_GRANT};`,
    };
  }
  if (standbys.some(isSynchronous)) return null;
  return {
    detail: "no synchronous standby follows the database, so commits wait for one",
    fix: "start one that synchronous_standby_names names, or name another",
  };
}

export function isSynchronous({ syncState, isStreaming }: Standby): boolean {
  return isStreaming && (syncState === "sync" || syncState === "quorum");
}
