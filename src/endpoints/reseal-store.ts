/** Stored signing secrets and masked headers as a change of keys meets them: of all tenants, with the owner's rights. */
import { notOnItsWay } from "../database/on-its-way.ts";
import type { Db } from "../database/pool.ts";
import type { EndpointId, EndpointKey, TenantId } from "../shared/id.ts";
import { FORGOTTEN_VERSION, MIN_SEALED_BYTES, SEALED_VERSION } from "../shared/secret-box.ts";

export type SealedSecrets = {
  tenantId: TenantId;
  endpointId: EndpointId;
  secret: Buffer;
  previousSecret: Buffer | null;
  sealedHeaders: Buffer | null;
};

/** The id of the key that sealed, in hex: bytes 2 to 5 of the stored form. */
const keyIdOf = (column: string): string => /* sql */ `encode(substring(${column} FROM 2 FOR 4), 'hex')`;

/** Live endpoints with a secret under any key but the given one, in the order of their keys, after one of them. */
export async function listSealedOtherwise(
  db: Db,
  keyId: string,
  { after, limit }: { after: Pick<SealedSecrets, "tenantId" | "endpointId"> | null; limit: number },
): Promise<SealedSecrets[]> {
  const { rows } = await db.query<SealedSecrets>(
    /* sql */ `SELECT tenant_id AS "tenantId", id AS "endpointId", secret, previous_secret AS "previousSecret",
        sealed_headers AS "sealedHeaders"
      FROM postern.endpoints
      WHERE deleted_at IS NULL
        AND (${keyIdOf("secret")} <> $1 OR ${keyIdOf("previous_secret")} <> $1
          OR ${keyIdOf("sealed_headers")} <> $1)
        AND ($2::text IS NULL OR (tenant_id, id) > ($2, $3::uuid))
      ORDER BY tenant_id, id LIMIT $4`,
    [keyId, after?.tenantId ?? null, after?.endpointId ?? null, limit],
  );
  return rows;
}

/**
 * Stores re-encrypted secrets if the old ones are unchanged, and returns for
 * how many endpoints. A locked row is skipped: waiting for
 * several rows in an order of its own could end in a deadlock with statements that
 * record outcomes. So is one of a tenant that is being moved: the copy may still
 * bring the old secret.
 */
export async function replaceSealed(
  db: Db,
  changes: readonly ({ old: SealedSecrets } & Pick<
    SealedSecrets,
    "secret" | "previousSecret" | "sealedHeaders"
  >)[],
): Promise<number> {
  const { rowCount } = await db.query(
    /* sql */ `WITH given AS MATERIALIZED (
        SELECT * FROM unnest($1::text[], $2::uuid[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[],
            $7::bytea[], $8::bytea[])
          AS given (tenant_id, id, old_secret, old_previous, secret, previous_secret, old_headers, sealed_headers)
      ), free AS MATERIALIZED (
        SELECT e.tenant_id, e.id FROM postern.endpoints e
        WHERE (e.tenant_id, e.id) IN (SELECT tenant_id, id FROM given) AND ${notOnItsWay("e.tenant_id")}
        FOR NO KEY UPDATE SKIP LOCKED
      )
      UPDATE postern.endpoints e SET secret = given.secret, previous_secret = given.previous_secret,
        sealed_headers = given.sealed_headers
      FROM given JOIN free USING (tenant_id, id)
      WHERE e.tenant_id = given.tenant_id AND e.id = given.id
        AND e.secret = given.old_secret AND e.previous_secret IS NOT DISTINCT FROM given.old_previous
        AND e.sealed_headers IS NOT DISTINCT FROM given.old_headers`,
    [
      changes.map(({ old }) => old.tenantId),
      changes.map(({ old }) => old.endpointId),
      changes.map(({ old }) => old.secret),
      changes.map(({ old }) => old.previousSecret),
      changes.map(({ secret }) => secret),
      changes.map(({ previousSecret }) => previousSecret),
      changes.map(({ old }) => old.sealedHeaders),
      changes.map(({ sealedHeaders }) => sealedHeaders),
    ],
  );
  return rowCount ?? 0;
}

/** Removes former secrets whose grace period is over: nothing is signed with them. */
export async function clearEndedGraces(db: Db): Promise<void> {
  await db.query(/* sql */ `UPDATE postern.endpoints SET previous_secret = NULL, previous_secret_until = NULL
    WHERE (tenant_id, id) IN (
        SELECT tenant_id, id FROM postern.endpoints WHERE previous_secret_until <= now()
        FOR NO KEY UPDATE SKIP LOCKED)
      AND previous_secret_until <= now()`);
}

/**
 * How many secrets of live endpoints each key has sealed, former ones in their
 * grace period included; an endpoint's masked headers count as one. What is of no known form, so that its key cannot be
 * told, is in no count. `isForgotten`: their key was given up as lost.
 */
export async function countSecretsByKey(
  db: Db,
): Promise<{ keyId: string; isForgotten: boolean; count: number }[]> {
  const { rows } = await db.query<{
    keyId: string;
    isForgotten: boolean;
    count: number;
  }>(/* sql */ `SELECT ${keyIdOf("sealed")} AS "keyId", get_byte(sealed, 0) = ${FORGOTTEN_VERSION} AS "isForgotten",
        count(*)::int AS count
      FROM postern.endpoints,
        unnest(ARRAY[secret, CASE WHEN previous_secret_until > now() THEN previous_secret END, sealed_headers])
          AS sealed
      WHERE deleted_at IS NULL
        AND CASE WHEN octet_length(sealed) >= ${MIN_SEALED_BYTES}
          THEN get_byte(sealed, 0) IN (${SEALED_VERSION}, ${FORGOTTEN_VERSION}) END
      GROUP BY 1, 2 ORDER BY 1, 2`);
  return rows;
}

const isSealedBy = (column: string): string => /* sql */ `CASE
  WHEN octet_length(${column}) >= ${MIN_SEALED_BYTES} AND get_byte(${column}, 0) = ${SEALED_VERSION}
    THEN ${keyIdOf(column)} = $1 ELSE false END`;

const forgotten = (column: string): string =>
  /* sql */ `CASE WHEN ${isSealedBy(column)} THEN set_byte(${column}, 0, ${FORGOTTEN_VERSION}) ELSE ${column} END`;

/**
 * Marks what the key has sealed as forgotten, of so many endpoints, and answers
 * which. Their former secrets end: nothing can be signed with them. `isCutOff`:
 * not only of its former secret. Locked rows and tenants that are being moved
 * are skipped, as by {@link replaceSealed}.
 */
export async function forgetSealedBy(
  db: Db,
  keyId: string,
  limit: number,
): Promise<(EndpointKey & { isCutOff: boolean })[]> {
  const { rows } = await db.query<EndpointKey & { isCutOff: boolean }>(
    /* sql */ `WITH found AS MATERIALIZED (
        SELECT e.tenant_id, e.id, ${isSealedBy("secret")} OR ${isSealedBy("sealed_headers")} AS is_cut_off FROM postern.endpoints e
        WHERE deleted_at IS NULL AND ${notOnItsWay("e.tenant_id")}
          AND (${isSealedBy("secret")} OR ${isSealedBy("previous_secret")} OR ${isSealedBy("sealed_headers")})
        ORDER BY e.tenant_id, e.id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
      )
      UPDATE postern.endpoints e SET secret = ${forgotten("secret")},
        sealed_headers = ${forgotten("sealed_headers")},
        previous_secret_until = CASE WHEN NOT ${isSealedBy("previous_secret")} THEN previous_secret_until END,
        previous_secret = CASE WHEN NOT ${isSealedBy("previous_secret")} THEN previous_secret END
      FROM found WHERE e.tenant_id = found.tenant_id AND e.id = found.id
      RETURNING e.tenant_id AS "tenantId", e.id AS "endpointId", found.is_cut_off AS "isCutOff"`,
    [keyId, limit],
  );
  return rows;
}
