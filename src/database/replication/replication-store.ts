import type { Db } from "../pool.ts";

/** A standby that the primary sends its log to. */
export type Standby = {
  name: string;
  /** As PostgreSQL says it: async, potential, sync or quorum. */
  syncState: string;
  isStreaming: boolean;
  /** What it has not replayed yet. */
  lagBytes: number;
  /** Null while there is nothing to replay. */
  lagSeconds: number | null;
};

export type Replication = {
  standbyNames: string;
  synchronousCommit: string;
  /** Null where this role may not see them. */
  standbys: Standby[] | null;
};

type Row = Pick<Replication, "standbyNames" | "synchronousCommit"> & {
  maySee: boolean;
  standbys: Standby[];
};

/** How the server that is connected to replicates. */
export async function readReplication(db: Db): Promise<Replication> {
  const { rows } =
    await db.query<Row>(/* sql */ `SELECT current_setting('synchronous_standby_names') AS "standbyNames",
      current_setting('synchronous_commit') AS "synchronousCommit",
      -- Others see that there are standbys, and nothing of their state.
      pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS "maySee",
      (SELECT coalesce(json_agg(json_build_object('name', application_name, 'syncState', sync_state,
          'isStreaming', state = 'streaming', 'lagSeconds', extract(epoch FROM replay_lag),
          'lagBytes', greatest(pg_wal_lsn_diff(sent.lsn, replay_lsn), 0)) ORDER BY application_name, pid), '[]')
        FROM pg_stat_replication,
          (SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_lsn() END AS lsn) AS sent
        WHERE replay_lsn IS NOT NULL) AS standbys`);
  const [row] = rows;
  if (row === undefined) throw new Error("the server did not say how it replicates");
  const { maySee, standbys, ...settings } = row;
  return { ...settings, standbys: maySee ? standbys : null };
}
