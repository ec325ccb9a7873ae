/** The rows of replays. */
import type { Db } from "../database/pool.ts";
import { LAST_ID, type EndpointId, type EventId, type ReplayId, type TenantId } from "../shared/id.ts";
import type { Replay } from "./replay.ts";

const COLUMNS = /* sql */ `tenant_id AS "tenantId", id, endpoint_id AS "endpointId", from_at AS "from", to_at AS "to",
  selection, event_type AS "eventType", cause, status, error, counted, is_capped AS "isCapped", sent, skipped,
  created_at AS "createdAt", finished_at AS "finishedAt"`;

/** With the outcomes that are counted for good, and those behind them, which the log has. */
const WITH_OUTCOMES = /* sql */ `SELECT ${COLUMNS}, r.delivered + late.delivered AS delivered,
    r.failed + late.failed AS failed
  FROM postern.replays r CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE d.status = 'delivered')::int AS delivered,
      count(*) FILTER (WHERE d.status = 'failed')::int AS failed
    FROM postern.deliveries d
    WHERE d.replay_id = r.id AND d.event_id > r.counted_to AND d.tenant_id = r.tenant_id
  ) AS late`;

export type NewReplay = Omit<
  Replay,
  "status" | "error" | "sent" | "skipped" | "delivered" | "failed" | "createdAt" | "finishedAt"
> & {
  /** Below every event of its range. */
  before: EventId;
};

/** Makes concurrent requests of one tenant wait for each other, and answers where its running replays are. Until the transaction ends. */
export async function lockRunningReplays(db: Db, tenantId: TenantId): Promise<EndpointId[]> {
  await db.query(/* sql */ `SELECT pg_advisory_xact_lock(hashtextextended('postern.replays ' || $1, 0))`, [
    tenantId,
  ]);
  const { rows } = await db.query<{ endpoint_id: EndpointId }>(
    /* sql */ `SELECT endpoint_id FROM postern.replays WHERE tenant_id = $1 AND status = 'running'`,
    [tenantId],
  );
  return rows.map((row) => row.endpoint_id);
}

export async function insertReplay(db: Db, replay: NewReplay): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.replays (tenant_id, id, endpoint_id, from_at, to_at, selection, event_type, cause,
        counted, is_capped, after_event_id, counted_to)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)`,
    [
      replay.tenantId,
      replay.id,
      replay.endpointId,
      replay.from,
      replay.to,
      replay.selection,
      replay.eventType,
      replay.cause,
      replay.counted,
      replay.isCapped,
      replay.before,
    ],
  );
}

export async function findReplay(db: Db, tenantId: TenantId, id: ReplayId): Promise<Replay | null> {
  const { rows } = await db.query<Replay>({
    name: "find-replay",
    text: /* sql */ `${WITH_OUTCOMES} WHERE r.tenant_id = $1 AND r.id = $2`,
    values: [tenantId, id],
  });
  return rows[0] ?? null;
}

/** Newest first, of one endpoint or of all; `before` is the last of the page before. */
export async function listReplays(
  db: Db,
  tenantId: TenantId,
  page: { endpointId: EndpointId | null; before: ReplayId | null; limit: number },
): Promise<Replay[]> {
  const { rows } = await db.query<Replay>({
    name: "list-replays",
    text: /* sql */ `${WITH_OUTCOMES} WHERE r.tenant_id = $1 AND ($2::uuid IS NULL OR r.endpoint_id = $2) AND r.id < $3
      ORDER BY r.id DESC LIMIT $4`,
    values: [tenantId, page.endpointId, page.before ?? LAST_ID, page.limit],
  });
  return rows;
}

/** A replay that this process works on. */
export type Run = { tenantId: TenantId; id: ReplayId; endpointId: EndpointId; leaseOwner: string };

/** Leases the unleased running replay that waits longest; null if there is none. */
export async function claimReplay(db: Db, leaseOwner: string, leaseMs: number): Promise<Run | null> {
  const { rows } = await db.query<Run>({
    name: "claim-replay",
    text: /* sql */ `UPDATE postern.replays SET lease_owner = $1, lease_until = now() + $2 * interval '1 ms'
      WHERE (tenant_id, id) = (
        SELECT tenant_id, id FROM postern.replays WHERE status = 'running' AND lease_until <= now()
        ORDER BY lease_until LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING tenant_id AS "tenantId", id, endpoint_id AS "endpointId", lease_owner AS "leaseOwner"`,
    values: [leaseOwner, leaseMs],
  });
  return rows[0] ?? null;
}

export type LockedRun = Omit<Replay, "delivered" | "failed"> & { after: EventId; isFed: boolean };

/** Locks the replay until the transaction ends; null where it is no longer running, or another worker's. */
export async function lockRun(db: Db, { tenantId, id, leaseOwner }: Run): Promise<LockedRun | null> {
  const { rows } = await db.query<LockedRun>(
    /* sql */ `SELECT ${COLUMNS}, after_event_id AS after, is_fed AS "isFed" FROM postern.replays
      WHERE tenant_id = $1 AND id = $2 AND lease_owner = $3 AND status = 'running' FOR UPDATE`,
    [tenantId, id, leaseOwner],
  );
  return rows[0] ?? null;
}

/** Counts outcomes of the events up to the first that is pending, or up to the cursor; answers how many are pending. */
export async function countOutcomes(db: Db, { tenantId, id }: Run): Promise<number> {
  const { rows } = await db.query<{ pending: number }>(
    /* sql */ `WITH pending AS MATERIALIZED (
        SELECT count(*)::int AS count, min(event_id::text COLLATE "C")::uuid AS first FROM postern.dispatches
        WHERE replay_id = $2
      ), ends AS MATERIALIZED (
        SELECT r.counted_to, coalesce(pending.first, r.after_event_id) AS upto, pending.first IS NULL AS is_over
        FROM postern.replays r CROSS JOIN pending WHERE r.tenant_id = $1 AND r.id = $2
      ), made AS MATERIALIZED (
        SELECT count(*) FILTER (WHERE d.status = 'delivered')::int AS delivered,
          count(*) FILTER (WHERE d.status = 'failed')::int AS failed, max(d.event_id::text COLLATE "C")::uuid AS last
        FROM ends CROSS JOIN LATERAL (
          SELECT d.status, d.event_id FROM postern.deliveries d
          WHERE d.replay_id = $2 AND d.tenant_id = $1 AND d.event_id > ends.counted_to
            AND (d.event_id < ends.upto OR ends.is_over) OFFSET 0
        ) AS d
      ), counted AS (
        UPDATE postern.replays r SET delivered = r.delivered + made.delivered, failed = r.failed + made.failed,
          counted_to = made.last
        FROM made WHERE r.tenant_id = $1 AND r.id = $2 AND made.last IS NOT NULL
      )
      SELECT count AS pending FROM pending`,
    [tenantId, id],
  );
  return rows[0]?.pending ?? 0;
}

/** Moves the cursor, in the transaction that adds the dispatches of the events up to it. */
export async function moveCursor(
  db: Db,
  { tenantId, id }: Run,
  moved: { after: EventId; isFed: boolean; sent: number; skipped: number },
): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.replays SET after_event_id = $3, is_fed = $4, sent = sent + $5, skipped = skipped + $6
      WHERE tenant_id = $1 AND id = $2`,
    [tenantId, id, moved.after, moved.isFed, moved.sent, moved.skipped],
  );
}

/** Gives the lease back; others may take it after so long. */
export async function releaseReplay(
  db: Db,
  { tenantId, id, leaseOwner }: Run,
  delayMs: number,
): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.replays SET lease_owner = NULL, lease_until = now() + $4 * interval '1 ms'
      WHERE tenant_id = $1 AND id = $2 AND lease_owner = $3`,
    [tenantId, id, leaseOwner, delayMs],
  );
}

/** The replay is over; false where it is already, or another worker's. */
export async function finishReplay(
  db: Db,
  { tenantId, id, leaseOwner }: Run,
  error: string | null,
): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `UPDATE postern.replays SET status = CASE WHEN $4::text IS NULL THEN 'finished' ELSE 'failed' END,
        error = $4, finished_at = now(), lease_owner = NULL
      WHERE tenant_id = $1 AND id = $2 AND lease_owner = $3 AND status = 'running'`,
    [tenantId, id, leaseOwner, error],
  );
  return rowCount === 1;
}

/** Ends a running replay, less the dispatches that were taken back; false where it is not running. */
export async function cancelReplay(db: Db, tenantId: TenantId, id: ReplayId): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `UPDATE postern.replays SET status = 'canceled', finished_at = now()
      WHERE tenant_id = $1 AND id = $2 AND status = 'running'`,
    [tenantId, id],
  );
  return rowCount === 1;
}

export async function subtractSent(db: Db, tenantId: TenantId, id: ReplayId, count: number): Promise<void> {
  await db.query(/* sql */ `UPDATE postern.replays SET sent = sent - $3 WHERE tenant_id = $1 AND id = $2`, [
    tenantId,
    id,
    count,
  ]);
}

/** Removes replays that ended before the log's retention; true when there may be more. Of all tenants. */
export async function forgetReplays(db: Db, retentionDays: number): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `DELETE FROM postern.replays WHERE (tenant_id, id) IN (
        SELECT tenant_id, id FROM postern.replays
        WHERE finished_at < now() - make_interval(days => $1) LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
    [retentionDays],
  );
  return rowCount === 1000;
}
