/** Rows of two tenants in every table, for tests of what one may do to the other's. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Db, Pool } from "../../src/database/pool.ts";
import { inTransaction } from "../../src/database/transaction.ts";
import {
  newDeliveryId,
  newEndpointId,
  newEventId,
  newExportId,
  newPortalSessionId,
  newReplayId,
  parseTenantId,
  type DeliveryId,
  type EndpointId,
  type EventId,
  type ExportId,
  type PortalSessionId,
  type ReplayId,
  type TenantId,
} from "../../src/shared/id.ts";
import { storageTenantId } from "../../src/storage/rows/storage-ids.ts";

/** Names one tenant's rows. */
export type Rows = {
  tenantId: TenantId;
  endpointId: EndpointId;
  eventId: EventId;
  /** Leased to {@link LEASE_OWNER}; three more dispatches are due, held and parked. */
  leasedId: DeliveryId;
  deliveryId: DeliveryId;
  /** A retry by a person that a client can fetch. */
  personSendId: DeliveryId;
  key: string;
  /** An artifact that is available and past its deadline; a second one, of the next attempt, waits for its upload. */
  objectId: string;
  pendingObjectId: string;
  objectKey: string;
  /** Running, with a lease of {@link LEASE_OWNER} that has ended. */
  exportId: ExportId;
  /** Running, with a lease of {@link LEASE_OWNER} that has ended. */
  replayId: ReplayId;
  /** A code that nobody used; beside it is a session that has ended. */
  portalId: PortalSessionId;
};

export const BUCKET = "artifacts";

export const LEASE_OWNER = randomUUID();
/** The same of both, as an id follows from the set. */
const HEADER_SET = randomUUID();
const FIRST_ID = "00000000-0000-7000-8000-000000000000";
export const EVENT_TYPE = "invoice.paid";
export const BODY = '{"data":{}}';

export const TENANT_TABLES = [
  "endpoints",
  "events",
  "idempotency_keys",
  "dispatches",
  "deliveries",
  "delivery_counts",
  "delivery_stats",
  "delivery_totals",
  "exhausted_events",
  "header_sets",
  "log_watches",
  "newest_attempts",
  "person_sends",
  "replays",
  "portal_sessions",
  "tenant_erasures",
  "outbox",
  "handovers",
  "shard_directory",
  "shard_tenants",
  "tenant_moves",
  "stored_objects",
  "storage_marks",
  "storage_events",
  "storage_grants",
  "storage_exports",
  "tenant_settings",
  "bodies_to_keep",
  "audit_log",
] as const;

export function tenant(name: string): TenantId {
  const id = parseTenantId(name);
  assert.ok(id !== null);
  return id;
}

/** Who changes something, where only that somebody does counts. */
export const ADA = {
  tenantId: tenant("acme"),
  actor: { type: "user", sub: "ada" },
  requestId: null,
  address: null,
} as const;

/** The same, with nothing that a move waits for: where nothing works, no attempt ends, and nobody folds counts. */
export async function seedMovableTenants(admin: Pool): Promise<void> {
  await seedTwoTenants(admin);
  await admin.query(`DELETE FROM postern.delivery_counts; DELETE FROM postern.tenant_erasures;
    UPDATE postern.dispatches d SET claimable_at = now() - interval '1 minute',
      event_id = (SELECT id FROM postern.events e WHERE e.tenant_id = d.tenant_id);
    SELECT postern.ensure_partitions(current_date - 30, current_date - 30);
    DELETE FROM postern.bodies_to_keep; UPDATE postern.stored_objects SET state = 'purged';
    UPDATE postern.storage_exports SET status = 'failed', lease_owner = NULL, lease_until = NULL`);
}

/** Removes every row and gives both tenants new ones. */
export async function seedTwoTenants(admin: Pool): Promise<{ acme: Rows; globex: Rows }> {
  // TRUNCATE makes new files of all partitions and indexes, which every session reads anew: most of these tests' time.
  const deletes = TENANT_TABLES.map((table) => `DELETE FROM postern.${table};`);
  return inTransaction(admin, async (transaction) => {
    await transaction.query(
      `SET LOCAL session_replication_role = replica; ${deletes.join(" ")} SET LOCAL session_replication_role = origin`,
    );
    return { acme: await seed(transaction, "acme"), globex: await seed(transaction, "globex") };
  });
}

async function seed(admin: Db, name: string): Promise<Rows> {
  const rows: Rows = {
    tenantId: tenant(name),
    endpointId: newEndpointId(),
    eventId: newEventId(),
    leasedId: newDeliveryId(),
    deliveryId: newDeliveryId(),
    personSendId: newDeliveryId(),
    key: `key of ${name}`,
    objectId: randomUUID(),
    pendingObjectId: randomUUID(),
    objectKey: `key of ${name}, 1`,
    exportId: newExportId(),
    replayId: newReplayId(),
    portalId: newPortalSessionId(),
  };
  const { tenantId, endpointId, eventId } = rows;
  await admin.query(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at, unsettled)
      VALUES ($1, $2, 'https://example.com/', '{*}', '\\x0102030405060708', now(), now(), true)`,
    [tenantId, endpointId],
  );
  await admin.query("INSERT INTO postern.events VALUES ($1, $2, $3, $4, 3)", [
    tenantId,
    eventId,
    EVENT_TYPE,
    BODY,
  ]);
  await admin.query(
    `INSERT INTO postern.dispatches
        (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, lease_owner, held, parked)
      SELECT $1, $2, id, $3, $4, 1, now(), now() + in_minutes * interval '1 minute', owner, held, parked
      FROM (VALUES ($5::uuid, 1, $6::uuid, false, false), (postern.uuid_v7(), -1, NULL, false, false),
        (postern.uuid_v7(), -1, NULL, true, false), (postern.uuid_v7(), -1, NULL, false, true))
          AS given (id, in_minutes, owner, held, parked)`,
    [tenantId, endpointId, eventId, EVENT_TYPE, rows.leasedId, LEASE_OWNER],
  );
  await admin.query(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_headers, latency_ms, header_set, header_values)
      VALUES ($1, $2, $3, $4, $5, 'event', 'failed', 1, '{}', 1, $6, '')`,
    [tenantId, endpointId, rows.deliveryId, eventId, EVENT_TYPE, HEADER_SET],
  );
  await admin.query(`INSERT INTO postern.exhausted_events VALUES ($1, $2, 1, $3, $4, $5)`, [
    tenantId,
    endpointId,
    rows.deliveryId,
    eventId,
    EVENT_TYPE,
  ]);
  await admin.query(
    `INSERT INTO postern.person_sends (tenant_id, endpoint_id, id, event_id, event_type, trigger, attempt, request_headers,
        delivery_label)
      VALUES ($1, $2, $3, $4, $5, 'retry', 2, '{}', 'label')`,
    [tenantId, endpointId, rows.personSendId, eventId, EVENT_TYPE],
  );
  await admin.query(
    `INSERT INTO postern.idempotency_keys VALUES ($1, $2, $3, postern.content_fingerprint($4, $5))`,
    [tenantId, rows.key, eventId, EVENT_TYPE, BODY],
  );
  await admin.query("INSERT INTO postern.header_sets VALUES ($1, $2, '{\"request\":[]}', now())", [
    tenantId,
    HEADER_SET,
  ]);
  await admin.query("INSERT INTO postern.log_watches VALUES ($1, $2, now() + interval '1 minute')", [
    tenantId,
    LEASE_OWNER,
  ]);
  await admin.query("INSERT INTO postern.outbox VALUES ($1, $2, $3, $4)", [
    newEventId(),
    tenantId,
    EVENT_TYPE,
    BODY,
  ]);
  await admin.query(
    "INSERT INTO postern.handovers (id, tenant_id, type, version, body) VALUES ($1, $2, $3, 1, $4)",
    [newEventId(), tenantId, EVENT_TYPE, BODY],
  );
  await admin.query("INSERT INTO postern.shard_directory (tenant_id, shard) VALUES ($1, 'eu1')", [tenantId]);
  await admin.query("INSERT INTO postern.shard_tenants (tenant_id, version) VALUES ($1, 1)", [tenantId]);
  await admin.query(
    "INSERT INTO postern.tenant_moves (tenant_id, source, target) VALUES ($1, 'eu1', 'eu2')",
    [tenantId],
  );
  await admin.query(
    `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key,
        size, sha256, content_type, version_id, etag, state, state_since, available_at, deadline)
      SELECT $1, id, $2, $3, attempt, 'request_body', $4, $5 || attempt, 1, repeat('a', 64), 'application/json',
        version, version, state, now(), CASE state WHEN 'available' THEN now() END, now() - interval '1 day'
      FROM (VALUES ($6::uuid, 1, 'v', 'available'), ($7::uuid, 2, NULL, 'pending'))
        AS given (id, attempt, version, state)`,
    [
      tenantId,
      storageTenantId(tenantId),
      rows.deliveryId,
      BUCKET,
      `key of ${name}, `,
      rows.objectId,
      rows.pendingObjectId,
    ],
  );
  await admin.query(
    `INSERT INTO postern.storage_marks VALUES ($1, $2, $3, 'row_without_object', now(), $4)`,
    [tenantId, BUCKET, `key of ${name}, 2`, randomUUID()],
  );
  await admin.query(
    `INSERT INTO postern.storage_events
      SELECT $1, coalesce(max(sequence), 0) + 1, 'storage.object.missing', $2, $3, $4, now() FROM postern.storage_events`,
    [tenantId, BUCKET, rows.objectKey, randomUUID()],
  );
  await admin.query("INSERT INTO postern.storage_grants VALUES ($1, $2, $3, $4, now(), now())", [
    tenantId,
    randomUUID(),
    rows.objectId,
    randomUUID(),
  ]);
  await admin.query(
    `INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at, status, lease_owner, lease_until)
      VALUES ($1, $2, 'somebody', now() - interval '1 day', now() + interval '1 day', 'running', $3, now())`,
    [tenantId, rows.exportId, LEASE_OWNER],
  );
  await admin.query(
    `INSERT INTO postern.replays (tenant_id, id, endpoint_id, from_at, to_at, selection, counted, is_capped,
        after_event_id, counted_to, lease_owner)
      VALUES ($1, $2, $3, now() - interval '1 day', now(), 'failed', 1, false, $4, $4, $5)`,
    [tenantId, rows.replayId, endpointId, FIRST_ID, LEASE_OWNER],
  );
  await admin.query(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at,
        once, parked, replay_id)
      VALUES ($1, $2, postern.uuid_v7(), $3, $4, 2, now(), now(), true, true, $5)`,
    [tenantId, endpointId, newEventId(), EVENT_TYPE, rows.replayId],
  );
  await admin.query(
    `INSERT INTO postern.portal_sessions (tenant_id, id, sub, role, read_only, code_hash, minutes, until)
      VALUES ($1, $2, 'ada', 'owner', false, sha256(convert_to($1, 'UTF8')), 60, now() + interval '1 hour'),
        ($1, $3, 'ada', 'owner', false, NULL, 60, now() - interval '1 hour')`,
    [tenantId, rows.portalId, newPortalSessionId()],
  );
  await admin.query("INSERT INTO postern.tenant_erasures (tenant_id) VALUES ($1)", [tenantId]);
  await admin.query(
    "INSERT INTO postern.tenant_settings (tenant_id, keep_request_bodies) VALUES ($1, true)",
    [tenantId],
  );
  await admin.query(
    `INSERT INTO postern.bodies_to_keep (tenant_id, endpoint_id, delivery_id, attempt, kind)
      VALUES ($1, $2, $3, 1, 'request_body')`,
    [tenantId, endpointId, rows.deliveryId],
  );
  await admin.query(
    `INSERT INTO postern.audit_log VALUES ($1, postern.uuid_v7(), now(), 'user', 'ada', 'endpoint.created', $2, 'done', '{}')`,
    [tenantId, endpointId],
  );
  return rows;
}

/** All of a tenant's rows, or with null everyone's, as text that changes when any of them does. */
export async function snapshot(admin: Pool, tenantId: TenantId | null): Promise<string> {
  const tables = await Promise.all(
    TENANT_TABLES.map(async (table) => {
      const { rows } = await admin.query({
        name: `snapshot of ${table}`,
        text: `SELECT to_jsonb(t) AS row FROM postern.${table} t WHERE $1::text IS NULL OR tenant_id = $1 ORDER BY 1`,
        values: [tenantId],
      });
      return rows;
    }),
  );
  return JSON.stringify(tables, null, 1);
}
