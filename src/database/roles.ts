/**
 * The database roles that Postern's queries run under, and how they come to be.
 *
 * Roles belong to the cluster, so no migration makes them: a database that was
 * restored into another cluster has all its migrations and none of its roles.
 * Each start looks, makes what is missing, or says what an administrator must do.
 */
import { codeOf } from "../shared/error-code.ts";
import { ConfigError } from "../shared/config-error.ts";
import type { Db } from "./pool.ts";
import type { ServingRole } from "./session-settings.ts";

type Need = {
  role: ServingRole | "postern_owner" | "postern_producer";
  /** What the connecting user must be able to do: SET ROLE to it, have its rights at once, or nothing. */
  as: "SET" | "USAGE" | null;
};

const NEEDS: readonly Need[] = [
  { role: "postern_owner", as: "USAGE" },
  { role: "postern_tenant", as: "SET" },
  { role: "postern_publisher", as: "SET" },
  { role: "postern_worker", as: "SET" },
  { role: "postern_producer", as: null },
];

const MAY_NOT = "The database's user may not make the database roles that Postern's queries run under";
const REMEDY = "Let an administrator run this once, in any database of the server";
const ROUNDS = 10;
const INSUFFICIENT_PRIVILEGE = "42501";
// duplicate_object, unique_violation, and what PostgreSQL calls an internal error: "tuple concurrently updated"
const RACE = new Set(["42710", "23505", "XX000"]);

/**
 * Makes the roles and the connecting user's memberships that are missing. Not
 * inside a transaction: several processes, on several databases of the cluster,
 * may do it at once, and each continues after the other. Throws
 * ConfigError with the statements to run when the user may not.
 */
export async function ensureRoles(db: Db): Promise<void> {
  let missing: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    missing = statementsFor(await findLacking(db));
    if (missing.length === 0) return;
    try {
      for (const statement of missing) await db.query(statement);
    } catch (error) {
      const code = codeOf(error);
      if (code === INSUFFICIENT_PRIVILEGE) break;
      if (!RACE.has(code)) throw error;
    }
  }
  const statements = missing.map((text) => `${text};\n`).join("");
  throw new ConfigError(`${MAY_NOT}. ${REMEDY}:\n\n${statements}`);
}

/** What {@link ensureRoles} would fail with for want of a right, and what to do; null where it would not. */
export async function findRoleTrouble(db: Db): Promise<{ detail: string; fix: string } | null> {
  const lacking = await findLacking(db);
  if (lacking.every(({ mayMend }) => mayMend)) return null;
  return { detail: MAY_NOT, fix: `${REMEDY}: ${statementsFor(lacking).join("; ")};` };
}

type RoleState = {
  role: string;
  exists: boolean;
  isUnsafe: boolean;
  isUsable: boolean;
  as: Need["as"];
  /** Where it is not usable all the same, granting it once more changes nothing. */
  isMember: boolean;
  /** Before PostgreSQL 16 users inherit, and not memberships. */
  byUser: boolean;
  /** Since PostgreSQL 16, who may make roles may not grant those that somebody else has made. */
  mayMend: boolean;
  user: string;
};

/** The roles that are not there, or that the connecting user can't use. */
async function findLacking(db: Db): Promise<RoleState[]> {
  // Before PostgreSQL 16 a member may always SET ROLE, and there is no such word.
  const { rows } = await db.query<RoleState>(
    /* sql */ `SELECT need.role, r.oid IS NOT NULL AS exists, quote_ident(current_user) AS user,
        coalesce(r.rolsuper OR r.rolbypassrls, false) AS "isUnsafe",
        need.privilege IS NULL OR coalesce(pg_has_role(current_user, r.oid, CASE
          WHEN need.privilege = 'SET' AND me.is_before_16 THEN 'MEMBER'
          ELSE need.privilege END), false) AS "isUsable",
        need.privilege AS "as", coalesce(pg_has_role(current_user, r.oid, 'MEMBER'), false) AS "isMember",
        me.is_before_16 AS "byUser",
        me.rolsuper OR coalesce(pg_has_role(current_user, r.oid, 'MEMBER WITH ADMIN OPTION'), false)
          OR me.rolcreaterole AND (r.oid IS NULL OR me.is_before_16) AS "mayMend"
      FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS need (role, privilege, place)
      CROSS JOIN (SELECT rolsuper, rolcreaterole, current_setting('server_version_num')::integer < 160000 AS is_before_16
        FROM pg_roles WHERE rolname = current_user) AS me
      LEFT JOIN pg_roles r ON r.rolname = need.role
      ORDER BY need.place`,
    [NEEDS.map(({ role }) => role), NEEDS.map((need) => need.as)],
  );
  const unsafe = rows.filter(({ isUnsafe }) => isUnsafe).map(({ role }) => role);
  if (unsafe.length > 0) {
    throw new ConfigError(
      "Row-level security does not hold for a role that may bypass it. Let an administrator run:\n\n" +
        unsafe.map((role) => `ALTER ROLE ${role} NOSUPERUSER NOBYPASSRLS;\n`).join(""),
    );
  }
  return rows.filter(({ exists, isUsable }) => !exists || !isUsable);
}

function statementsFor(lacking: readonly RoleState[]): string[] {
  return [
    ...lacking.filter(({ exists }) => !exists).map(({ role }) => `CREATE ROLE ${role} NOLOGIN`),
    ...lacking.filter(({ isUsable }) => !isUsable).map(toUse),
  ];
}

function toUse({ role, as, isMember, byUser, user }: RoleState): string {
  if (!isMember) return `GRANT ${role} TO ${user}`;
  if (byUser) return `ALTER ROLE ${user} INHERIT`;
  return `GRANT ${role} TO ${user} WITH ${as === "SET" ? "SET" : "INHERIT"} TRUE`;
}
