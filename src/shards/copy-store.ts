/** The copying of a tenant's rows: PostgreSQL's logical replication with row filters. */
import { escapeIdentifier, escapeLiteral } from "pg";
import type { Db } from "../database/pool.ts";
import type { TenantId } from "../shared/id.ts";
import { CHANGING, GROWING, PENDING } from "./move-tables.ts";

/** For all that the target's server asks the source in one command. PostgreSQL itself would wait for ever. */
export const ASKING_MS = 15_000;

const REFUSED_AT_ONCE = "host=127.0.0.1 port=1 user=nobody password=none";

/** `name` is that of the subscription, of its slot, and of what the publications' names begin with. */
export type Copy = { name: string; tenantId: TenantId };

/** The same for the same move, and no other's of the same servers. */
export async function readCopyName(db: Db, tenantId: TenantId, target: string): Promise<string> {
  const { rows } = await db.query<{ name: string }>(
    /* sql */ `SELECT 'postern_move_' || left(encode(sha256(convert_to(directory::text || ' ' || $1 || ' ' || $2, 'UTF8')), 'hex'), 20)
        AS name FROM postern.shard`,
    [tenantId, target],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the database is no shard");
  return row.name;
}

function publicationsOf({ name }: Copy): [changing: string, growing: string] {
  return [name, `${name}_log`];
}

function tablesOf(tables: readonly string[], tenantId: TenantId): string {
  return tables
    .map((table) => `postern.${escapeIdentifier(table)} WHERE (tenant_id = ${escapeLiteral(tenantId)})`)
    .join(", ");
}

/** In the source, before anything subscribes. A slot of its own call: in one command, PostgreSQL waits for itself where both shards are on one server. */
export async function publish(source: Db, copy: Copy): Promise<void> {
  const [changing, growing] = publicationsOf(copy);
  const { rows } = await source.query<{ pubname: string }>(/* sql */ `SELECT pubname FROM pg_publication`);
  const existing = new Set(rows.map(({ pubname }) => pubname));
  const root = "publish_via_partition_root = true";
  if (!existing.has(changing)) {
    await source.query(
      `CREATE PUBLICATION ${changing} FOR TABLE ${tablesOf(CHANGING, copy.tenantId)} WITH (${root})`,
    );
  }
  if (!existing.has(growing)) {
    await source.query(
      `CREATE PUBLICATION ${growing} FOR TABLE ${tablesOf(GROWING, copy.tenantId)} WITH (${root}, publish = 'insert')`,
    );
  }
  await source.query(
    /* sql */ `SELECT pg_create_logical_replication_slot($1, 'pgoutput')
      WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1)`,
    [copy.name],
  );
}

/** Whether the source's server still has the copy's slot, and the log behind it. A standby that took over has none. */
export async function hasSlot(source: Db, { name }: Copy): Promise<boolean> {
  const { rowCount } = await source.query(
    /* sql */ `SELECT FROM pg_replication_slots WHERE slot_name = $1 AND wal_status IS DISTINCT FROM 'lost'`,
    [name],
  );
  return rowCount === 1;
}

/** Whether a server fetches from the copy's slot at this moment. */
export async function isFetched(source: Db, { name }: Copy): Promise<boolean> {
  const { rowCount } = await source.query(
    /* sql */ `SELECT FROM pg_replication_slots WHERE slot_name = $1 AND active`,
    [name],
  );
  return rowCount === 1;
}

export async function isSubscribed(target: Db, { name }: Copy): Promise<boolean> {
  const { rowCount } = await target.query(
    /* sql */ `SELECT FROM pg_subscription WHERE subname = $1
      AND subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [name],
  );
  return rowCount === 1;
}

/** Those of the target's server that copy and apply, and how many subscriptions of all its databases keep one. */
export async function readWorkers(target: Db): Promise<{ most: number; taken: number }> {
  const { rows } = await target.query<{
    most: number;
    taken: number;
  }>(/* sql */ `SELECT current_setting('max_logical_replication_workers')::integer AS most,
      (SELECT count(*)::integer FROM pg_subscription WHERE subenabled) AS taken`);
  const [row] = rows;
  if (row === undefined) throw new Error("a question without a table has one row");
  return row;
}

/** In the target, in a transaction. It applies with its owner's rights, which pass row-level security. */
export async function subscribe(target: Db, copy: Copy, sourceUrl: string): Promise<void> {
  if (await isSubscribed(target, copy)) {
    await hideFromLog(target);
    // The source may have another address or password than when the copy began.
    await target.query(`ALTER SUBSCRIPTION ${copy.name} CONNECTION ${escapeLiteral(sourceUrl)}`);
    await target.query(`ALTER SUBSCRIPTION ${copy.name} ENABLE`);
    return;
  }
  const { rows } = await target.query<{
    knows: boolean;
    standby: boolean;
  }>(/* sql */ `SELECT current_setting('server_version_num')::integer >= 160000 AS knows,
      current_setting('synchronous_standby_names') <> '' AS standby`);
  const asOwner = rows[0]?.knows === true ? ", run_as_owner = true" : "";
  // Otherwise the source forgets changes that a promotion of the target's standby would lose.
  const durable = rows[0]?.standby === true ? ", synchronous_commit = 'on'" : "";
  await hideFromLog(target);
  await limitAsking(target, "transaction");
  await target.query(
    `CREATE SUBSCRIPTION ${copy.name} CONNECTION ${escapeLiteral(sourceUrl)} PUBLICATION ${publicationsOf(copy).join(", ")}
      WITH (create_slot = false, slot_name = ${escapeLiteral(copy.name)}${asOwner}${durable})`,
  );
}

/** Ends each of its statements that takes longer. */
export async function limitAsking(target: Db, scope: "session" | "transaction"): Promise<void> {
  await target.query(/* sql */ `SELECT set_config('statement_timeout', $1, $2)`, [
    String(ASKING_MS),
    scope === "transaction",
  ]);
}

/** The statement has a password. A superuser may keep it out of the server's log, others cannot. */
async function hideFromLog(db: Db): Promise<void> {
  await db.query(/* sql */ `SELECT set_config(setting, value, true)
    FROM (VALUES ('log_statement', 'none'), ('log_min_error_statement', 'panic'), ('log_min_duration_statement', '-1'))
      AS hidden (setting, value)
    WHERE (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)`);
}

/** The dispatches are to be copied too, once the target asks: see {@link fetchPending}. */
export async function publishPending(source: Db, copy: Copy): Promise<void> {
  const [changing] = publicationsOf(copy);
  const { rowCount } = await source.query(
    /* sql */ `SELECT FROM pg_publication_tables WHERE pubname = $1 AND tablename = ANY ($2::text[])`,
    [changing, PENDING],
  );
  if (rowCount === 0) {
    await source.query(`ALTER PUBLICATION ${changing} ADD TABLE ${tablesOf(PENDING, copy.tenantId)}`);
  }
}

/** Outside of a transaction: the dispatches are copied too from now on. */
export async function fetchPending(target: Db, copy: Copy): Promise<void> {
  await target.query(`ALTER SUBSCRIPTION ${copy.name} REFRESH PUBLICATION`);
}

export type CopyState = {
  /** Tables whose rows of before are not wholly there yet. */
  unready: number;
  /** How often PostgreSQL has failed to apply something: its log says why. */
  errors: number;
  /** It gives up where its owner wants that after a failure. */
  enabled: boolean;
};

export async function readCopyState(target: Db, { name }: Copy): Promise<CopyState> {
  const { rows } = await target.query<CopyState>(
    /* sql */ `SELECT
        (SELECT count(*) FROM pg_subscription_rel r WHERE r.srsubid = s.oid AND r.srsubstate <> 'r') AS unready,
        coalesce((SELECT apply_error_count + sync_error_count FROM pg_stat_subscription_stats t WHERE t.subid = s.oid), 0)
          AS errors, s.subenabled AS enabled
      FROM pg_subscription s WHERE s.subname = $1`,
    [name],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the subscription is gone");
  return row;
}

/** Where the source's log ends. */
export async function readEnd(source: Db): Promise<string> {
  const { rows } = await source.query<{ lsn: string }>(
    /* sql */ `SELECT pg_current_wal_insert_lsn()::text AS lsn`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a question without a table has one row");
  return row.lsn;
}

/** Whether the target has everything up to there on its disk. */
export async function hasReached(source: Db, { name }: Copy, lsn: string): Promise<boolean> {
  const { rowCount } = await source.query(
    /* sql */ `SELECT FROM pg_replication_slots WHERE slot_name = $1 AND confirmed_flush_lsn >= $2::pg_lsn`,
    [name, lsn],
  );
  return rowCount === 1;
}

/** Stops applying; true once nothing is applied any more. */
export async function stopApplying(target: Db, copy: Copy): Promise<boolean> {
  if (!(await isSubscribed(target, copy))) return true;
  await target.query(`ALTER SUBSCRIPTION ${copy.name} DISABLE`);
  const { rowCount } = await target.query(
    /* sql */ `SELECT FROM pg_stat_subscription WHERE subname = $1 AND pid IS NOT NULL`,
    [copy.name],
  );
  return rowCount === 0;
}

/**
 * In a transaction. PostgreSQL would have the target's server drop the slots, and it may not reach the source any
 * more: see copy-slot-store.ts. Answers what the names of those for single tables are like; null: there was none.
 */
export async function unsubscribe(target: Db, { name }: Copy): Promise<string | null> {
  const { rows } = await target.query<{ slots: string }>(
    /* sql */ `SELECT format('pg\\_%s\\_sync\\_%%\\_%s', oid, (SELECT system_identifier FROM pg_control_system())) AS slots
      FROM pg_subscription WHERE subname = $1
        AND subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [name],
  );
  const [row] = rows;
  if (row === undefined) return null;
  await limitAsking(target, "transaction");
  await target.query(`ALTER SUBSCRIPTION ${name} DISABLE`);
  await target.query(`ALTER SUBSCRIPTION ${name} SET (slot_name = NONE)`);
  // Where tables are not wholly copied it still asks for their slots, and goes on once that is refused.
  await target.query(`ALTER SUBSCRIPTION ${name} CONNECTION '${REFUSED_AT_ONCE}'`);
  await target.query(`DROP SUBSCRIPTION ${name}`);
  return row.slots;
}

export async function unpublish(source: Db, copy: Copy): Promise<void> {
  await source.query(`DROP PUBLICATION IF EXISTS ${publicationsOf(copy).join(", ")}`);
}

/** What moves have in this database, by kind and name. */
export async function readLeftCopies(db: Db): Promise<string[]> {
  const { rows } = await db.query<{
    name: string;
  }>(/* sql */ `SELECT 'publication ' || pubname AS name FROM pg_publication WHERE pubname LIKE 'postern\\_move\\_%'
      UNION ALL SELECT 'slot ' || slot_name FROM pg_replication_slots
        WHERE slot_name LIKE 'postern\\_move\\_%' AND database = current_database()
      UNION ALL SELECT 'subscription ' || subname FROM pg_subscription WHERE subname LIKE 'postern\\_move\\_%'
        AND subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      ORDER BY name`);
  return rows.map(({ name }) => name);
}

/** The days that the source has a partition for. */
export async function readDays(source: Db): Promise<string[]> {
  const { rows } = await source.query<{
    day: string;
  }>(/* sql */ `SELECT DISTINCT to_char(to_date(right(c.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') AS day
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent IN ('postern.events'::regclass, 'postern.deliveries'::regclass) AND c.relname ~ '_[0-9]{8}$'
      ORDER BY day`);
  return rows.map(({ day }) => day);
}

/** From when on rows of each table are compared. */
export type KeptSince = { events: Date; deliveries: Date };

/** When the oldest day of each table begins that retention has left. */
export async function readKeptSince(db: Db): Promise<KeptSince> {
  const { rows } =
    await db.query<KeptSince>(/* sql */ `SELECT coalesce(min(day) FILTER (WHERE parent = 'postern.events'::regclass), 'epoch') AS events,
        coalesce(min(day) FILTER (WHERE parent = 'postern.deliveries'::regclass), 'epoch') AS deliveries
      FROM (
        SELECT i.inhparent AS parent, to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' AS day
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent IN ('postern.events'::regclass, 'postern.deliveries'::regclass) AND c.relname ~ '_[0-9]{8}$'
      ) AS kept`);
  const [row] = rows;
  if (row === undefined) throw new Error("a question without a table has one row");
  return row;
}

/** The last minute, by the database's clock: that of the command's machine may be wrong. */
export async function readLastMinute(db: Db): Promise<KeptSince> {
  const { rows } = await db.query<KeptSince>(
    /* sql */ `SELECT start AS events, start AS deliveries FROM (SELECT now() - interval '1 minute' AS start) AS minute`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a question without a table has one row");
  return row;
}

/** A day that is too long ago has none: its rows lie in the default partition. */
export async function ensureDay(target: Db, day: string): Promise<void> {
  await target.query(
    /* sql */ `SELECT postern.ensure_partitions($1::date, $1::date)
      WHERE $1::date BETWEEN (now() AT TIME ZONE 'UTC')::date - 399 AND (now() AT TIME ZONE 'UTC')::date + 59`,
    [day],
  );
}

/** The transactions of this database that are open at this moment. */
export async function readOpenTransactions(source: Db): Promise<string[]> {
  const { rows } = await source.query<{
    id: string;
  }>(/* sql */ `SELECT l.virtualxid AS id FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'virtualxid' AND l.mode = 'ExclusiveLock' AND l.pid <> pg_backend_pid()
        AND a.datname = current_database() AND coalesce(a.backend_type, 'client backend') = 'client backend'`);
  return rows.map(({ id }) => id);
}

export type ServerFacts = {
  version: number;
  walLevel: string;
  maxSlots: number;
  freeSlots: number;
  maxSenders: number;
  freeSenders: number;
  /** Both as SQL has them. */
  user: string;
  database: string;
  mayReplicate: boolean;
  mayPublish: boolean;
  maySubscribe: boolean;
  /** That new connections of the user begin with, as those that copy a table, in words. Null: none. */
  statementTimeout: string | null;
};

export async function readServerFacts(db: Db): Promise<ServerFacts> {
  const { rows } =
    await db.query<ServerFacts>(/* sql */ `SELECT current_setting('server_version_num')::integer / 10000 AS version,
        current_setting('wal_level') AS "walLevel",
        current_setting('max_replication_slots')::integer AS "maxSlots",
        current_setting('max_replication_slots')::integer - (SELECT count(*)::integer FROM pg_replication_slots) AS "freeSlots",
        current_setting('max_wal_senders')::integer AS "maxSenders",
        current_setting('max_wal_senders')::integer - (SELECT count(*)::integer FROM pg_stat_replication) AS "freeSenders",
        quote_ident(current_user) AS user, quote_ident(current_database()) AS database, rolsuper OR rolreplication AS "mayReplicate",
        rolsuper OR (pg_has_role('postern_owner', 'USAGE')
          AND has_database_privilege(current_database(), 'CREATE')) AS "mayPublish",
        rolsuper OR (rolbypassrls AND has_database_privilege(current_database(), 'CREATE') AND EXISTS (
          SELECT FROM pg_roles WHERE rolname = 'pg_create_subscription' AND pg_has_role(oid, 'USAGE'))) AS "maySubscribe",
        (SELECT reset_val || ' ' || unit FROM pg_settings WHERE name = 'statement_timeout' AND reset_val <> '0') AS "statementTimeout"
      FROM pg_roles WHERE rolname = current_user`);
  const [row] = rows;
  if (row === undefined) throw new Error("the user has no role");
  return row;
}
