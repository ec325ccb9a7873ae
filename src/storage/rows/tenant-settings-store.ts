/** What a tenant chose for its artifacts. */
import type { Db } from "../../database/pool.ts";
import type { TenantId } from "../../shared/id.ts";

export type TenantSettings = {
  keepRequestBodies: boolean;
  keepResponseBodies: boolean;
  /** Days; null: as long as the operator allows. */
  artifactDays: number | null;
};

const DEFAULTS: TenantSettings = { keepRequestBodies: false, keepResponseBodies: false, artifactDays: null };

export async function readTenantSettings(db: Db, tenantId: TenantId): Promise<TenantSettings> {
  const { rows } = await db.query<TenantSettings>(
    /* sql */ `SELECT keep_request_bodies AS "keepRequestBodies", keep_response_bodies AS "keepResponseBodies",
        artifact_days AS "artifactDays"
      FROM postern.tenant_settings WHERE tenant_id = $1`,
    [tenantId],
  );
  return rows[0] ?? DEFAULTS;
}

export async function writeTenantSettings(
  db: Db,
  tenantId: TenantId,
  settings: TenantSettings,
): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.tenant_settings (tenant_id, keep_request_bodies, keep_response_bodies, artifact_days)
      VALUES ($1, $2, $3, $4)
      ON CONFLICT (tenant_id) DO UPDATE SET keep_request_bodies = excluded.keep_request_bodies,
        keep_response_bodies = excluded.keep_response_bodies, artifact_days = excluded.artifact_days,
        updated_at = now()`,
    [tenantId, settings.keepRequestBodies, settings.keepResponseBodies, settings.artifactDays],
  );
}
