import type { Db } from "../database/pool.ts";
import type { EndpointId, EndpointKey, TenantId } from "../shared/id.ts";
import { maskedNames, maskHeaders } from "../outbound/request-headers.ts";
import type { DisabledReason, Endpoint, EndpointChange, EndpointMode, EndpointTarget } from "./endpoint.ts";
import type { StoredHeaders } from "./static-headers.ts";
import { TEMPORARY_UNTIL } from "./temporary-store.ts";

type EndpointRow = {
  tenant_id: TenantId;
  id: EndpointId;
  url: string;
  events: string[];
  description: string | null;
  enabled: boolean;
  disabled_reason: DisabledReason | null;
  mode: EndpointMode;
  temporary: boolean;
  rate_limit: number | null;
  headers: Record<string, string>;
  masked_headers: string[];
  metadata: Record<string, string>;
  created_at: Date;
  updated_at: Date;
};

const COLUMNS = /* sql */ `tenant_id, id, url, events, description, enabled, disabled_reason, mode,
  temporary_until IS NOT NULL AS temporary, rate_limit, headers, masked_headers, metadata, created_at, updated_at`;

export async function listEndpoints(db: Db, tenantId: TenantId): Promise<Endpoint[]> {
  const { rows } = await db.query<EndpointRow>(
    /* sql */ `SELECT ${COLUMNS} FROM postern.endpoints
      WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY id DESC`,
    [tenantId],
  );
  return rows.map(toEndpoint);
}

export async function findEndpoint(db: Db, tenantId: TenantId, id: EndpointId): Promise<Endpoint | null> {
  const { rows } = await db.query<EndpointRow>(
    /* sql */ `SELECT ${COLUMNS} FROM postern.endpoints
      WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`,
    [tenantId, id],
  );
  return rows[0] === undefined ? null : toEndpoint(rows[0]);
}

/**
 * Makes concurrent creates of one tenant wait for each other, so that counting
 * its endpoints and adding one are one step. Held until the transaction ends.
 */
export async function lockTenantEndpoints(db: Db, tenantId: TenantId): Promise<number> {
  await db.query(/* sql */ `SELECT pg_advisory_xact_lock(hashtextextended('postern.endpoints ' || $1, 0))`, [
    tenantId,
  ]);
  const { rows } = await db.query<{ count: number }>(
    /* sql */ `SELECT count(*)::int AS count FROM postern.endpoints WHERE tenant_id = $1 AND deleted_at IS NULL`,
    [tenantId],
  );
  return rows[0]?.count ?? 0;
}

export type NewEndpoint = Pick<Endpoint, "tenantId" | "id" | "url" | "events" | "description" | "enabled"> &
  Pick<Endpoint, "mode" | "temporary" | "rateLimit" | "metadata"> & { secret: Buffer; stored: StoredHeaders };

export async function insertEndpoint(db: Db, endpoint: NewEndpoint): Promise<Endpoint> {
  const { rows } = await db.query<EndpointRow>(
    /* sql */ `INSERT INTO postern.endpoints
        (tenant_id, id, url, events, description, enabled, disabled_reason, rate_limit, headers, metadata,
         secret, masked_headers, sealed_headers, mode, temporary_until, created_at, updated_at, moving)
      VALUES ($1, $2, $3, $4, $5, $6, CASE WHEN $6 THEN NULL ELSE 'manual' END, $7, $8, $9, $10, $11, $12, $13,
        CASE WHEN $14 THEN ${TEMPORARY_UNTIL} END, date_trunc('milliseconds', now()), date_trunc('milliseconds', now()),
        EXISTS (SELECT FROM postern.shard_tenants WHERE tenant_id = $1 AND moving))
      RETURNING ${COLUMNS}`,
    [
      endpoint.tenantId,
      endpoint.id,
      endpoint.url,
      endpoint.events,
      endpoint.description,
      endpoint.enabled,
      endpoint.rateLimit,
      JSON.stringify(endpoint.stored.headers),
      JSON.stringify(endpoint.metadata),
      endpoint.secret,
      endpoint.stored.maskedHeaders,
      endpoint.stored.sealedHeaders,
      endpoint.mode,
      endpoint.temporary,
    ],
  );
  return onlyEndpoint(rows);
}

/** The static headers as they are stored, of a row that is locked until this transaction ends. */
export async function lockHeaders(db: Db, tenantId: TenantId, id: EndpointId): Promise<StoredHeaders | null> {
  const { rows } = await db.query<StoredHeaders>(
    /* sql */ `SELECT headers, masked_headers AS "maskedHeaders", sealed_headers AS "sealedHeaders"
      FROM postern.endpoints WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
    [tenantId, id],
  );
  return rows[0] ?? null;
}

/**
 * Changes the members given and answers the endpoint, or null where there is
 * none. Enabling clears the reason and the time since when it has failed;
 * disabling says `manual`. Both, and another mode, mark it `unsettled`: its
 * pending dispatches are to follow.
 */
export async function updateEndpoint(
  db: Db,
  tenantId: TenantId,
  id: EndpointId,
  change: Omit<EndpointChange, "headers" | "masked_headers"> & { stored?: StoredHeaders | undefined },
): Promise<Endpoint | null> {
  const { rows } = await db.query<EndpointRow>(
    /* sql */ `UPDATE postern.endpoints SET
        url = coalesce($3, url),
        events = coalesce($4, events),
        description = CASE WHEN $5 THEN $6 ELSE description END,
        enabled = coalesce($7, enabled),
        mode = coalesce($14, mode),
        unsettled = unsettled OR $7 IS NOT NULL OR coalesce($14, mode) <> mode,
        disabled_reason = CASE WHEN $7 THEN NULL WHEN NOT $7 THEN 'manual' ELSE disabled_reason END,
        failing_since = CASE WHEN $7 THEN NULL ELSE failing_since END,
        rate_limit = CASE WHEN $8 THEN $9 ELSE rate_limit END,
        headers = coalesce($10, headers),
        masked_headers = coalesce($12, masked_headers),
        sealed_headers = CASE WHEN $10 IS NULL THEN sealed_headers ELSE $13 END,
        metadata = coalesce($11, metadata),
        updated_at = date_trunc('milliseconds', now())
      WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL
      RETURNING ${COLUMNS}`,
    [
      tenantId,
      id,
      change.url,
      change.events,
      change.description !== undefined,
      change.description,
      change.enabled,
      change.rate_limit !== undefined,
      change.rate_limit,
      change.stored === undefined ? undefined : JSON.stringify(change.stored.headers),
      change.metadata === undefined ? undefined : JSON.stringify(change.metadata),
      change.stored?.maskedHeaders,
      change.stored?.sealedHeaders,
      change.mode,
    ],
  );
  return rows[0] === undefined ? null : toEndpoint(rows[0]);
}

/** Answers false where there is no such endpoint. The row stays, without its secrets: the log refers to it. */
export async function softDeleteEndpoint(db: Db, tenantId: TenantId, id: EndpointId): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `UPDATE postern.endpoints
      SET deleted_at = now(), secret = '', headers = '{}', masked_headers = '{}', sealed_headers = NULL,
        previous_secret = NULL, previous_secret_until = NULL,
        unsettled = true
      WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`,
    [tenantId, id],
  );
  return rowCount === 1;
}

/** Removes some deleted endpoints whose log is gone, of all tenants; true when there may be more. */
export async function forgetDeletedEndpoints(db: Db, retentionDays: number): Promise<boolean> {
  const { rows } = await db.query<{ removed: number }>(
    /* sql */ `SELECT postern.forget_deleted_endpoints($1) AS removed`,
    [retentionDays],
  );
  return (rows[0]?.removed ?? 0) > 0;
}

/** The secret as it is stored, of a row that is locked until this transaction ends. */
export async function lockSecret(db: Db, tenantId: TenantId, id: EndpointId): Promise<Buffer | null> {
  const { rows } = await db.query<{ secret: Buffer }>(
    /* sql */ `SELECT secret FROM postern.endpoints
      WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
    [tenantId, id],
  );
  return rows[0]?.secret ?? null;
}

/** Replaces the secret; the old one lives on for `graceSeconds` beside it. False where there is no endpoint. */
export async function replaceSecret(
  db: Db,
  tenantId: TenantId,
  id: EndpointId,
  next: { secret: Buffer; graceSeconds: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `UPDATE postern.endpoints SET
        previous_secret = CASE WHEN $4 > 0 THEN secret END,
        previous_secret_until = CASE WHEN $4 > 0 THEN now() + make_interval(secs => $4) END,
        secret = $3,
        updated_at = date_trunc('milliseconds', now())
      WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`,
    [tenantId, id, next.secret, next.graceSeconds],
  );
  return rowCount === 1;
}

/** What is needed to send to each of the endpoints that still exist, in no particular order. */
export async function loadTargets(db: Db, keys: readonly EndpointKey[]): Promise<EndpointTarget[]> {
  const { rows } = await db.query<EndpointTarget>(
    /* sql */ `SELECT e.tenant_id AS "tenantId", e.id AS "endpointId", e.url, e.events, e.enabled,
        e.mode, e.temporary_until AS "temporaryUntil", e.rate_limit AS "rateLimit", e.headers, e.masked_headers AS "maskedHeaders",
        e.sealed_headers AS "sealedHeaders", e.secret,
        e.failing_since AS "failingSince",
        CASE WHEN e.previous_secret_until > now() THEN e.previous_secret END AS "previousSecret",
        CASE WHEN s.keep_request_bodies OR s.keep_response_bodies THEN json_build_object(
          'requestBodies', s.keep_request_bodies, 'responseBodies', s.keep_response_bodies,
          'days', s.artifact_days) END AS keeps
      FROM unnest($1::text[], $2::uuid[]) AS wanted (tenant_id, id)
      -- Each by its key: a join may read all endpoints, when it was planned while there were few.
      CROSS JOIN LATERAL (
        SELECT tenant_id, id, url, events, enabled, mode, temporary_until, rate_limit, headers, masked_headers, sealed_headers, secret, previous_secret,
          previous_secret_until, failing_since
        FROM postern.endpoints
        WHERE tenant_id = wanted.tenant_id AND id = wanted.id AND deleted_at IS NULL OFFSET 0
      ) AS e
      LEFT JOIN LATERAL (
        SELECT keep_request_bodies, keep_response_bodies, artifact_days
        FROM postern.tenant_settings WHERE tenant_id = e.tenant_id OFFSET 0
      ) AS s ON true`,
    [keys.map((key) => key.tenantId), keys.map((key) => key.endpointId)],
  );
  return rows;
}

/** How an endpoint does beside its settings; null where there is none. */
export async function findHealth(
  db: Db,
  tenantId: TenantId,
  id: EndpointId,
): Promise<{ failingSince: Date | null; previousSecretUntil: Date | null } | null> {
  const { rows } = await db.query<{ failingSince: Date | null; previousSecretUntil: Date | null }>(
    /* sql */ `SELECT failing_since AS "failingSince",
        CASE WHEN previous_secret_until > now() THEN previous_secret_until END AS "previousSecretUntil"
      FROM postern.endpoints WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`,
    [tenantId, id],
  );
  return rows[0] ?? null;
}

/** Keeps an endpoint as it is until the transaction ends. */
export async function lockEndpoint(db: Db, { tenantId, endpointId }: EndpointKey): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `SELECT FROM postern.endpoints WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE`,
    [tenantId, endpointId],
  );
  return rowCount === 1;
}

/** Notes when an endpoint began to fail; the first note counts. */
export async function beginFailing(db: Db, endpoint: EndpointKey): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.endpoints SET failing_since = now()
      WHERE tenant_id = $1 AND id = $2 AND failing_since IS NULL`,
    [endpoint.tenantId, endpoint.endpointId],
  );
}

/**
 * Notes that an endpoint works again, if its tenant was told that it fails
 * (`isTold`), or else if not. Null where it was not failing so.
 */
export async function endFailing(
  db: Db,
  endpoint: EndpointKey,
  isTold: boolean,
): Promise<{ url: string; failingSince: Date } | null> {
  const { rows } = await db.query<{ url: string; failingSince: Date }>(
    /* sql */ `WITH failing AS MATERIALIZED (
        SELECT tenant_id, id, url, failing_since FROM postern.endpoints
        WHERE tenant_id = $1 AND id = $2 AND failing_since IS NOT NULL
          AND coalesce(failing_told_at >= failing_since, false) = $3
        FOR NO KEY UPDATE
      )
      UPDATE postern.endpoints e SET failing_since = NULL FROM failing AS f
      WHERE e.tenant_id = $1 AND e.id = $2
      RETURNING f.url, f.failing_since AS "failingSince"`,
    [endpoint.tenantId, endpoint.endpointId, isTold],
  );
  return rows[0] ?? null;
}

/**
 * Disables an enabled endpoint that is still what the attempt saw; false where
 * it changed meanwhile: as `failing` not one that has worked since and fails anew.
 */
export async function disableEndpoint(
  db: Db,
  seen: Pick<EndpointTarget, "tenantId" | "endpointId" | "url" | "failingSince">,
  reason: DisabledReason,
): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `UPDATE postern.endpoints
      SET enabled = false, disabled_reason = $3, unsettled = true, updated_at = date_trunc('milliseconds', now())
      WHERE tenant_id = $1 AND id = $2 AND enabled AND deleted_at IS NULL AND url = $4
        -- What was seen has lost its microseconds.
        AND ($3 <> 'failing' OR failing_since < $5::timestamptz + interval '1 ms')`,
    [seen.tenantId, seen.endpointId, reason, seen.url, seen.failingSince],
  );
  return rowCount === 1;
}

function onlyEndpoint(rows: EndpointRow[]): Endpoint {
  const [row] = rows;
  if (row === undefined) throw new Error("the insert answered no endpoint");
  return toEndpoint(row);
}

function toEndpoint(row: EndpointRow): Endpoint {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    url: row.url,
    events: row.events,
    description: row.description,
    enabled: row.enabled,
    disabledReason: row.disabled_reason,
    mode: row.mode,
    temporary: row.temporary,
    rateLimit: row.rate_limit,
    headers: maskHeaders(row.headers, maskedNames(row.masked_headers)),
    maskedHeaders: row.masked_headers,
    metadata: row.metadata,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
