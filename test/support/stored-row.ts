/** Rows of stored artifacts that differ in whatever a test asks for, of which no bucket has the bytes. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Db } from "../../src/database/pool.ts";
import type { TenantId } from "../../src/shared/id.ts";
import { storageTenantId } from "../../src/storage/rows/storage-ids.ts";
import type { ArtifactKind } from "../../src/storage/rules/object-key.ts";
import type { ObjectState } from "../../src/storage/rules/stored-object.ts";
import { tenant } from "./two-tenants.ts";

export const DIGEST = "a".repeat(64);
export const NOW = "2026-03-10T12:00:00.000Z";

export type StoredRow = { id: string; key: string; revision: number };

type Given = {
  of?: TenantId;
  id?: string | undefined;
  delivery?: string;
  attempt?: number;
  kind?: ArtifactKind;
  size?: number;
  sha256?: string;
  state?: ObjectState;
  /** Null: never. */
  availableAt?: string | null;
  deadline?: string;
};

/** Of acme, and available since NOW, unless it is said otherwise. */
export async function insertRow(db: Db, bucket: string, given: Given = {}): Promise<StoredRow> {
  const { of = tenant("acme"), id = randomUUID(), state = "available" } = given;
  const { availableAt = state === "pending" ? null : NOW } = given;
  const { rows } = await db.query<StoredRow>(
    `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key,
        size, sha256, content_type, version_id, etag, state, state_since, available_at, deadline)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $2::uuid::text, $8, $9, 'application/json', 'v', 'e', $10, now(), $11, $12)
      RETURNING id, key, revision::int`,
    [
      of,
      id,
      storageTenantId(of),
      given.delivery ?? id,
      given.attempt ?? 1,
      given.kind ?? "request_body",
      bucket,
      given.size ?? 5,
      given.sha256 ?? DIGEST,
      state,
      availableAt,
      given.deadline ?? null,
    ],
  );
  const [row] = rows;
  assert.ok(row !== undefined);
  return row;
}
