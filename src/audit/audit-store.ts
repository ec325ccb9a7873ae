import type { Db } from "../database/pool.ts";
import { idTimeMs, LAST_ID, lowestIdAt, newAuditId, type TenantId } from "../shared/id.ts";
import type { AuditEntry, AuditFilter, NewAuditEntry } from "./audit-entry.ts";

const COLUMNS = /* sql */ `tenant_id AS "tenantId", id, at,
  json_build_object('type', actor_type, 'sub', actor_sub) AS actor, action, endpoint_id AS "endpointId",
  outcome, details, request_id AS "requestId", address`;

/** $2 to $7: what {@link filterValues} gives. */
const FILTER = /* sql */ `($2::text IS NULL OR action = $2)
  AND ($3::uuid IS NULL OR endpoint_id = $3)
  AND id >= $4::uuid AND id < $5::uuid AND id < $6::uuid
  ORDER BY id DESC LIMIT $7`;

const MAX_TEXT = 2048;

const INSERT = /* sql */ `INSERT INTO postern.audit_log
    (tenant_id, id, at, actor_type, actor_sub, action, endpoint_id, outcome, details, request_id, address)
  SELECT * FROM unnest($1::text[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[],
    $7::uuid[], $8::text[], $9::jsonb[], $10::uuid[], $11::text[]) AS entry (tenant_id)`;

export async function insertAuditEntries(db: Db, entries: readonly NewAuditEntry[]): Promise<void> {
  await db.query(INSERT, valuesOf(entries));
}

/** Without those of tenants that this database refuses, since they live in another: these are the answer. */
export async function insertWhoLivesHere(
  db: Db,
  entries: readonly NewAuditEntry[],
): Promise<NewAuditEntry[]> {
  const { rows } = await db.query<{ tenantId: TenantId }>(
    /* sql */ `WITH gone AS MATERIALIZED (
        SELECT tenant_id FROM postern.shard_tenants WHERE fenced AND tenant_id = ANY ($1::text[])
      ), written AS (${INSERT} WHERE tenant_id IS NULL OR tenant_id <> ALL (ARRAY(SELECT tenant_id FROM gone)))
      SELECT tenant_id AS "tenantId" FROM gone`,
    valuesOf(entries),
  );
  const gone = new Set(rows.map(({ tenantId }) => tenantId));
  return entries.filter(({ tenantId }) => tenantId !== null && gone.has(tenantId));
}

function valuesOf(entries: readonly NewAuditEntry[]): unknown[] {
  const ids = entries.map(() => newAuditId());
  return [
    entries.map((entry) => entry.tenantId),
    ids,
    ids.map((id) => new Date(idTimeMs(id))),
    entries.map((entry) => entry.actor.type),
    entries.map(({ actor }) => (actor.sub === null ? null : storableText(actor.sub))),
    entries.map((entry) => entry.action),
    entries.map((entry) => entry.endpointId),
    entries.map((entry) => entry.outcome),
    entries.map((entry) => JSON.stringify(entry.details, storable)),
    entries.map((entry) => entry.requestId),
    entries.map((entry) => entry.address),
  ];
}

/** A tenant's entries, newest first. */
export async function listAuditEntries(
  db: Db,
  tenantId: TenantId,
  page: { filter: AuditFilter; limit: number },
): Promise<AuditEntry[]> {
  const { rows } = await db.query<AuditEntry>(
    /* sql */ `SELECT ${COLUMNS} FROM postern.audit_log WHERE tenant_id = $1 AND ${FILTER}`,
    [tenantId, ...filterValues(page)],
  );
  return rows;
}

/** Entries of all tenants and of none, or of one, newest first: for the operator, with the owner's rights. */
export async function listAuditOfAll(
  db: Db,
  page: { tenantId: TenantId | null; filter: AuditFilter; limit: number },
): Promise<AuditEntry[]> {
  const { rows } = await db.query<AuditEntry>(
    /* sql */ `SELECT ${COLUMNS} FROM postern.audit_log WHERE ($1::text IS NULL OR tenant_id = $1) AND ${FILTER}`,
    [page.tenantId, ...filterValues(page)],
  );
  return rows;
}

/** Removes some of what is past its year; answers how much. */
export async function removeOldAudit(db: Db): Promise<number> {
  const { rows } = await db.query<{ removed: number }>(
    /* sql */ `SELECT postern.forget_old_audit() AS removed`,
  );
  return rows[0]?.removed ?? 0;
}

function filterValues({ filter, limit }: { filter: AuditFilter; limit: number }): unknown[] {
  const { action, endpointId, fromMs, toMs, before } = filter;
  const from = lowestIdAt(fromMs ?? 0);
  const to = toMs === undefined ? LAST_ID : lowestIdAt(toMs);
  return [action ?? null, endpointId ?? null, from, to, before ?? LAST_ID, limit];
}

function storable(_name: string, value: unknown): unknown {
  return typeof value === "string" ? storableText(value) : value;
}

/** PostgreSQL takes neither NUL nor half a character, and callers send both. */
function storableText(text: string): string {
  return text.slice(0, MAX_TEXT).toWellFormed().replaceAll("\u0000", "\uFFFD");
}
