/**
 * Whether the schema is all there. A dump ends with the rights of the roles, but
 * does not make the roles. So a restore without them, or one that is cut off, has
 * every row and every migration, and lets nobody in. Its policies are missing as
 * well, so grants alone would not mend it.
 */
import { ConfigError } from "../../shared/config-error.ts";
import { readAppliedMigrations } from "./migration-ledger.ts";
import type { Db } from "../pool.ts";

const FIX =
  "Drop the database, create an empty one, and restore the whole backup; the roles must be there before " +
  "(docs/deploy.md, Backup).";
const GRANTING = "roles_and_row_security";
const ROLES = ["postern_tenant", "postern_publisher", "postern_worker"];

/** Throws ConfigError where a restore ended half-way, with what to do. */
export async function requireWhole(db: Db): Promise<void> {
  const partial = await findPartial(db);
  if (partial !== null) throw new ConfigError(`${partial.detail}\n${partial.fix}`);
}

const tell = (found: string) => ({
  detail: `The schema postern ${found}, as after a restore that ended half-way.`,
  fix: FIX,
});

/** What was found, and what to do; null where all is there, or nothing yet. */
export async function findPartial(db: Db): Promise<{ detail: string; fix: string } | null> {
  // Before the record, since another process may make both meanwhile.
  const isMade = await hasTables(db);
  const applied = await readAppliedMigrations(db);
  if (applied.length === 0) return isMade ? tell("has tables, and no record of their migrations") : null;
  if (!applied.some(({ name }) => name === GRANTING)) return null;
  const roles = await findShutOut(db);
  return roles.length === 0 ? null : tell(`lacks rights of ${roles.join(", ")}`);
}

async function hasTables(db: Db): Promise<boolean> {
  const { rows } = await db.query(/* sql */ `SELECT WHERE to_regclass('postern.dispatches') IS NOT NULL`);
  return rows.length > 0;
}

/** Roles that may not use the schema, or have no right at all to a table of whose rows a policy lets them have some. */
async function findShutOut(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ role: string }>(
    /* sql */ `SELECT need.role FROM unnest($1::text[]) WITH ORDINALITY AS need (role, place)
      LEFT JOIN pg_roles r ON r.rolname = need.role
      WHERE r.oid IS NULL OR NOT has_schema_privilege(r.oid, 'postern', 'USAGE')
        OR EXISTS (SELECT FROM pg_policy p JOIN pg_class t ON t.oid = p.polrelid
          WHERE t.relnamespace = to_regnamespace('postern') AND r.oid = ANY (p.polroles)
            AND NOT has_any_column_privilege(r.oid, t.oid, 'SELECT, INSERT, UPDATE')
            AND NOT has_table_privilege(r.oid, t.oid, 'DELETE'))
      ORDER BY need.place`,
    [ROLES],
  );
  return rows.map(({ role }) => role);
}
