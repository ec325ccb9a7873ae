/** A move's own rows: which are under way, and in which shard the tenant is let in. */
import type { Db, Pool } from "../database/pool.ts";
import { FETCH_CHANNEL } from "../queue/channels.ts";
import { hasCode } from "../shared/error-code.ts";
import type { TenantId } from "../shared/id.ts";
import type { KeptSince } from "./copy-store.ts";

export type MoveSite = { name: string; db: Pool };

export type Move = {
  tenantId: TenantId;
  source: string;
  target: string;
  startedAt: Date;
  switched: boolean;
};

const MOVE = /* sql */ `tenant_id AS "tenantId", source, target, started_at AS "startedAt", switched`;

export async function findMove(directory: Db, tenantId: TenantId): Promise<Move | null> {
  const { rows } = await directory.query<Move>(
    /* sql */ `SELECT ${MOVE} FROM postern.tenant_moves WHERE tenant_id = $1`,
    [tenantId],
  );
  return rows[0] ?? null;
}

export async function insertMove(
  directory: Db,
  { tenantId, source, target }: Pick<Move, "tenantId" | "source" | "target">,
): Promise<void> {
  await directory.query(
    /* sql */ `INSERT INTO postern.tenant_moves (tenant_id, source, target) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
    [tenantId, source, target],
  );
}

export async function deleteMove(directory: Db, tenantId: TenantId): Promise<void> {
  await directory.query(/* sql */ `DELETE FROM postern.tenant_moves WHERE tenant_id = $1`, [tenantId]);
}

/** From this commit on the tenant lives in the target. */
export async function commitSwitch(directory: Db, move: Move, replays: string): Promise<void> {
  // One statement, and so one commit.
  const { rowCount } = await directory.query(
    /* sql */ `WITH noted AS (
        UPDATE postern.tenant_moves SET switched = true, replays = $4
        WHERE tenant_id = $1 AND source = $2 AND target = $3 AND NOT switched RETURNING tenant_id
      )
      UPDATE postern.shard_directory home SET shard = $3, version = version + 1
      FROM noted WHERE home.tenant_id = noted.tenant_id AND home.shard = $2`,
    [move.tenantId, move.source, move.target, replays],
  );
  if (rowCount !== 1) throw new Error("the move was given up, or has switched");
}

/** Whether the switch was committed, once no commit of it is under way. It can't be made until the transaction ends. */
export async function lockSwitched(directory: Db, tenantId: TenantId): Promise<boolean> {
  const { rows } = await directory.query<{ switched: boolean }>(
    /* sql */ `SELECT switched FROM postern.tenant_moves WHERE tenant_id = $1 FOR UPDATE`,
    [tenantId],
  );
  return rows[0]?.switched === true;
}

export async function readReplaysOfMove(directory: Db, tenantId: TenantId): Promise<string> {
  const { rows } = await directory.query<{ replays: string }>(
    /* sql */ `SELECT coalesce(replays::text, '[]') AS replays FROM postern.tenant_moves WHERE tenant_id = $1`,
    [tenantId],
  );
  return rows[0]?.replays ?? "[]";
}

/** Held until the connection ends: two commands never move one tenant at once. */
export async function tryLockMove(directory: Db, tenantId: TenantId): Promise<boolean> {
  const { rows } = await directory.query<{ locked: boolean }>(
    /* sql */ `SELECT pg_try_advisory_lock(hashtextextended('postern.move ' || $1, 0)) AS locked`,
    [tenantId],
  );
  return rows[0]?.locked === true;
}

/** Of all moves, one at a time counts the workers that are free and subscribes. */
export async function lockSubscribing(directory: Db): Promise<void> {
  await directory.query(/* sql */ `SELECT pg_advisory_xact_lock(hashtextextended('postern.subscribe', 0))`);
}

/** In the shard: accepts the tenant's callers, and its replays continue. */
export async function unfence(db: Db, tenantId: TenantId): Promise<void> {
  await db.query(
    /* sql */ `WITH resident AS (UPDATE postern.shard_tenants SET fenced = false WHERE tenant_id = $1)
      UPDATE postern.replays SET lease_owner = NULL, lease_until = now()
      WHERE tenant_id = $1 AND lease_until = 'infinity'`,
    [tenantId],
  );
}

/** Takes them from their workers, which then add nothing more, until the fence is lifted. Waits for what one is adding. */
export async function takeReplays(db: Db, tenantId: TenantId): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.replays SET lease_owner = gen_random_uuid(), lease_until = 'infinity'
      WHERE tenant_id = $1 AND status = 'running'`,
    [tenantId],
  );
}

/** In the source, before its fence: endpoints that are made from now on are moving too. Where it is false, the move is over there. */
export async function setMoving(db: Db, tenantId: TenantId, moving: boolean): Promise<void> {
  await db.query(/* sql */ `UPDATE postern.shard_tenants SET moving = $2 WHERE tenant_id = $1`, [
    tenantId,
    moving,
  ]);
}

/** What a shard knows of a tenant. `version` is that of its home, or of the one that it is fenced for. */
export type Marks = { version: number; moving: boolean; fenced: boolean };

/** How far a move is in the source, and whether the target lets the tenant in; null where the tenant never lived. */
export async function readMarks(db: Db, tenantId: TenantId): Promise<Marks | null> {
  const { rows } = await db.query<Marks>(
    /* sql */ `SELECT version, moving, fenced FROM postern.shard_tenants WHERE tenant_id = $1`,
    [tenantId],
  );
  return rows[0] ?? null;
}

/**
 * In the shard: refuses the tenant's callers from now on, also callers who know
 * an older home of it. Work across tenants leaves its rows alone until the move ends.
 */
export async function fence(db: Db, tenantId: TenantId, version: number): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.shard_tenants (tenant_id, version, fenced, moving) VALUES ($1, $2, true, true)
      ON CONFLICT (tenant_id) DO UPDATE SET version = excluded.version, fenced = true, moving = true`,
    [tenantId, version],
  );
}

/** In a shard that the tenant was not moved to in the end, and has no rows in. */
export async function forgetFence(db: Db, tenantId: TenantId): Promise<void> {
  await db.query(/* sql */ `DELETE FROM postern.shard_tenants WHERE tenant_id = $1 AND fenced`, [tenantId]);
}

/** In the target, before the tenant is let in. */
export async function insertReplays(db: Db, replays: string): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.replays SELECT * FROM json_populate_recordset(NULL::postern.replays, $1)
      ON CONFLICT DO NOTHING`,
    [replays],
  );
}

/** In the target, before the tenant is let in. */
export async function insertExports(db: Db, exports: string): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.storage_exports SELECT * FROM json_populate_recordset(NULL::postern.storage_exports, $1)
      ON CONFLICT DO NOTHING`,
    [exports],
  );
}

/** In the source, once the target has let the tenant in: clients that wait for events look again, and are sent there. */
export async function wakeClients(db: Db, tenantId: TenantId): Promise<void> {
  await db.query(
    /* sql */ `SELECT pg_notify('${FETCH_CHANNEL}', id::text) FROM postern.endpoints WHERE tenant_id = $1 AND mode = 'pull'`,
    [tenantId],
  );
}

/** Waits for requests of erasures under way. No other can be made until the transaction ends. */
export async function lockErasures(db: Db): Promise<void> {
  await db.query(/* sql */ `LOCK TABLE postern.tenant_erasures IN SHARE MODE`);
}

/** Whether the tenant is being erased, or was since. */
export async function wasErasedSince(db: Db, tenantId: TenantId, since: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `SELECT FROM postern.tenant_erasures
      WHERE tenant_id = $1 AND (status = 'running' OR requested_at >= $2)`,
    [tenantId, since],
  );
  return rowCount === 1;
}

export async function readReplays(db: Db, tenantId: TenantId): Promise<string> {
  const { rows } = await db.query<{ replays: string }>(
    /* sql */ `SELECT coalesce(json_agg(r), '[]')::text AS replays FROM postern.replays r WHERE tenant_id = $1`,
    [tenantId],
  );
  return rows[0]?.replays ?? "[]";
}

export async function readExports(db: Db, tenantId: TenantId): Promise<string> {
  const { rows } = await db.query<{ exports: string }>(
    /* sql */ `SELECT coalesce(json_agg(e), '[]')::text AS exports FROM postern.storage_exports e WHERE tenant_id = $1`,
    [tenantId],
  );
  return rows[0]?.exports ?? "[]";
}

/**
 * What the tenant has in the shard's own bucket, or will have, in words. Uploads that
 * never came count as little as purged ones.
 */
export async function findStored(db: Db, tenantId: TenantId): Promise<string[]> {
  const { rows } = await db.query<{ what: string }>(
    /* sql */ `SELECT what FROM (VALUES
        ('stored artifacts', EXISTS (SELECT FROM postern.stored_objects
          WHERE tenant_id = $1 AND state <> 'purged' AND NOT (state = 'missing' AND available_at IS NULL))),
        ('unfinished exports', EXISTS (SELECT FROM postern.storage_exports
          WHERE tenant_id = $1 AND status IN ('queued', 'running'))),
        ('bodies to store', EXISTS (SELECT FROM postern.bodies_to_keep WHERE tenant_id = $1))
      ) AS kinds (what, has_any) WHERE has_any`,
    [tenantId],
  );
  return rows.map(({ what }) => what);
}

/** Which of these tables have rows of the tenant. */
export async function findTablesWithRows(
  db: Db,
  tenantId: TenantId,
  tables: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    /* sql */ `SELECT name FROM postern.count_tenant_rows($1, 1) WHERE name = ANY ($2::text[]) ORDER BY name`,
    [tenantId, tables],
  );
  return rows.map(({ name }) => name);
}

export type Size = { rows: number; bytes: number };

/** The tenant's rows in these tables. Bytes without indexes, and of bodies as they are uncompressed. */
export async function measureRows(db: Db, tenantId: TenantId, tables: readonly string[]): Promise<Size> {
  const { rows: places } = await db.query<{ place: string; matches: string }>(
    /* sql */ `SELECT place::text AS place, matches FROM postern.tables_of_tenants() WHERE name = ANY ($1::text[])`,
    [tables],
  );
  const total = { rows: 0, bytes: 0 };
  for (const { place, matches } of places) {
    // Both are the catalog's own.
    const size = await unlessDropped(
      db.query<Size>(
        /* sql */ `SELECT count(*) AS rows, coalesce(sum(pg_column_size(t.*)), 0)::bigint AS bytes FROM ${place} t WHERE ${matches}`,
        [tenantId],
      ),
    );
    total.rows += size?.rows ?? 0;
    total.bytes += size?.bytes ?? 0;
  }
  return total;
}

/** Events that wait to be handed over are of their home. */
const OF_SHARD = "name NOT IN ('outbox', 'handovers')";

/** Whether the tenant has rows that {@link deleteTenantRows} would delete. Meanwhile, none goes to another partition. */
export async function hasTenantRows(db: Db, tenantId: TenantId): Promise<boolean> {
  const { rows } = await db.query(
    /* sql */ `SELECT FROM postern.count_tenant_rows($1, 1) WHERE ${OF_SHARD}`,
    [tenantId],
  );
  return rows.length > 0;
}

const DELETED_AT_ONCE = 5000;

/** A table of the catalog, and its rows of a tenant: all quoted where they must be. */
type Place = { place: string; matches: string; inOrder: string };

/** Deletes the tenant's rows, except events that wait to be handed over. `told` gets the number now and then, and at the end. */
export async function deleteTenantRows(
  db: Db,
  tenantId: TenantId,
  told: (count: number) => void,
): Promise<void> {
  // Of the audit log all goes, also what an erasure leaves.
  const { rows: places } =
    await db.query<Place>(/* sql */ `SELECT place::text AS place, postern.order_of_deletion(name) AS "inOrder",
        CASE name WHEN 'audit_log' THEN 'tenant_id = $1' ELSE matches END AS matches
      FROM postern.tables_of_tenants() WHERE ${OF_SHARD}`);
  let count = 0;
  let last = 0;
  for (const place of places) {
    // One that another transaction has changed is passed over, and is found by the next look.
    for (let isAll = false; !isAll;) {
      const { found, deleted } = await deleteSome(db, place, tenantId);
      isAll = found < DELETED_AT_ONCE && deleted === found;
      count += deleted;
      // Of a long log each day is a place.
      if (count - last < DELETED_AT_ONCE) continue;
      last = count;
      told(count);
    }
  }
  if (count > last) told(count);
}

/** SQLSTATE undefined_table. */
const DROPPED = "42P01";

/** Undefined where the place has gone since it was listed: a day that retention has dropped, or one that got its partition. */
async function unlessDropped<T>(asked: Promise<{ rows: T[] }>): Promise<T | undefined> {
  try {
    return (await asked).rows[0];
  } catch (error) {
    if (hasCode(error, DROPPED)) return undefined;
    throw error;
  }
}

async function deleteSome(
  db: Db,
  { place, matches, inOrder }: Place,
  tenantId: TenantId,
): Promise<{ found: number; deleted: number }> {
  const none = { found: 0, deleted: 0 };
  // Deleted in the order of their places, so what needs another order is locked first.
  const lock = inOrder === "" ? "" : "FOR UPDATE";
  const some = await unlessDropped(
    db.query<typeof none>(
      /* sql */ `WITH found AS MATERIALIZED (
            SELECT ctid AS at FROM ${place} WHERE ${matches} ${inOrder} LIMIT $2 ${lock}),
          deleted AS (DELETE FROM ${place} WHERE ctid = ANY (ARRAY(SELECT at FROM found)) RETURNING 1)
        SELECT (SELECT count(*) FROM found) AS found, (SELECT count(*) FROM deleted) AS deleted`,
      [tenantId, DELETED_AT_ONCE],
    ),
  );
  return some ?? none;
}

export type Counts = { endpoints: number; dispatches: number; events: number; deliveries: number };

/** Whether the body of a dispatch is missing: retention may have dropped old days of the copy before it came. */
export async function lacksEvents(db: Db, tenantId: TenantId): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `SELECT FROM postern.dispatches d WHERE tenant_id = $1 AND NOT superseded AND NOT EXISTS (
        SELECT FROM postern.events e WHERE e.tenant_id COLLATE "C" = $1 AND e.id = d.event_id) LIMIT 1`,
    [tenantId],
  );
  return rowCount === 1;
}

/** What must not get lost; of the log what is newer than `since`. */
export async function countRows(db: Db, tenantId: TenantId, since: KeptSince): Promise<Counts> {
  const { rows } = await db.query<Counts>(
    /* sql */ `SELECT
      (SELECT count(*) FROM postern.endpoints WHERE tenant_id = $1) AS endpoints,
      (SELECT count(*) FROM postern.dispatches WHERE tenant_id = $1 AND NOT superseded) AS dispatches,
      (SELECT count(*) FROM postern.events WHERE tenant_id COLLATE "C" = $1 AND id >= postern.lowest_id_at($2)) AS events,
      (SELECT count(*) FROM postern.deliveries WHERE tenant_id COLLATE "C" = $1 AND id >= postern.lowest_id_at($3)) AS deliveries`,
    [tenantId, since.events, since.deliveries],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a question without a table has one row");
  return row;
}

/** Keys of events that are still on their way to a home: the home must accept the events by them. */
export async function readKeysOnTheWay(db: Db, tenantId: TenantId): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    /* sql */ `SELECT id FROM postern.outbox WHERE tenant_id = $1 AND key IS NOT NULL
      UNION ALL SELECT id FROM postern.handovers WHERE tenant_id = $1 AND claimed`,
    [tenantId],
  );
  return rows.map(({ id }) => id);
}

export async function forgetKeys(db: Db, tenantId: TenantId, eventIds: readonly string[]): Promise<void> {
  await db.query(
    /* sql */ `DELETE FROM postern.idempotency_keys WHERE tenant_id = $1 AND event_id = ANY ($2::uuid[])`,
    [tenantId, eventIds],
  );
}
