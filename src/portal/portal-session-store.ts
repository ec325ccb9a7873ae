/** The rows of codes and sessions, which the operator's backend makes for any tenant. */
import type { Db } from "../database/pool.ts";
import type { PortalSessionId } from "../shared/id.ts";
import { ALL_TENANTS, CODE_S, type PortalGrant, type PortalSession } from "./portal-session.ts";

type Row = {
  id: PortalSessionId;
  tenantId: PortalGrant["tenantId"];
  subject: string;
  role: PortalGrant["role"];
  isReadOnly: boolean;
  until: Date;
};

const COLUMNS = /* sql */ `id, tenant_id AS "tenantId", sub AS subject, role, read_only AS "isReadOnly", until`;

export type NewCode = {
  id: PortalSessionId;
  grant: PortalGrant;
  codeHash: Buffer;
  /** How long the session lasts once the code is used. */
  minutes: number;
};

/** Answers until when the code is good. */
export async function insertCode(db: Db, { id, grant, codeHash, minutes }: NewCode): Promise<Date> {
  return inserted(db, { id, grant, codeHash, minutes, seconds: CODE_S });
}

/** A session that needs no code; answers its end. */
export async function insertSession(
  db: Db,
  { id, grant, minutes }: Omit<NewCode, "codeHash">,
): Promise<Date> {
  return inserted(db, { id, grant, codeHash: null, minutes, seconds: minutes * 60 });
}

async function inserted(
  db: Db,
  {
    id,
    grant,
    codeHash,
    minutes,
    seconds,
  }: Omit<NewCode, "codeHash"> & { codeHash: Buffer | null; seconds: number },
): Promise<Date> {
  const { tenantId, subject, role, isReadOnly } = grant;
  const { rows } = await db.query<{ until: Date }>(
    /* sql */ `INSERT INTO postern.portal_sessions (tenant_id, id, sub, role, read_only, code_hash, minutes, until)
      VALUES ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8)) RETURNING until`,
    [tenantId, id, subject, role, isReadOnly, codeHash, minutes, seconds],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("an inserted session has no row");
  return row.until;
}

/** Begins the session of a code that is good, once; null for any other code. */
export async function useCode(db: Db, codeHash: Buffer): Promise<PortalSession | null> {
  const { rows } = await db.query<Row>(
    /* sql */ `UPDATE postern.portal_sessions
      SET code_hash = NULL, until = now() + make_interval(mins => minutes)
      WHERE code_hash = $1 AND until > now() RETURNING ${COLUMNS}`,
    [codeHash],
  );
  return toSession(rows[0]);
}

/** Null for one that has ended. */
export async function findSession(db: Db, id: PortalSessionId): Promise<PortalSession | null> {
  const { rows } = await db.query<Row>({
    name: "find-portal-session",
    text: /* sql */ `SELECT ${COLUMNS} FROM postern.portal_sessions
      WHERE id = $1 AND code_hash IS NULL AND until > now()`,
    values: [id],
  });
  return toSession(rows[0]);
}

export async function deleteSession(db: Db, id: PortalSessionId): Promise<void> {
  await db.query(/* sql */ `DELETE FROM postern.portal_sessions WHERE id = $1`, [id]);
}

/**
 * Removes codes and sessions whose time is up; true when there may be more. Of all tenants. The time is
 * asked again of a row that was waited for: its code may just have been used.
 */
export async function forgetPortalSessions(db: Db): Promise<boolean> {
  const { rowCount } = await db.query(/* sql */ `WITH old AS MATERIALIZED (
        SELECT id FROM (SELECT id FROM postern.portal_sessions WHERE until < now() LIMIT 1000) AS ended
        ORDER BY id -- as in order_of_deletion.sql
      )
      DELETE FROM postern.portal_sessions p USING old WHERE p.id = ANY (ARRAY[old.id]) AND until < now()`);
  return rowCount === 1000;
}

function toSession(row: Row | undefined): PortalSession | null {
  if (row === undefined) return null;
  const { id, tenantId, subject, role, isReadOnly, until } = row;
  if (tenantId === ALL_TENANTS)
    return { id, grant: { tenantId: ALL_TENANTS, subject, role: null, isReadOnly: true }, until };
  if (role === null) throw new Error("a tenant's session has a role");
  return { id, grant: { tenantId, subject, role, isReadOnly }, until };
}
