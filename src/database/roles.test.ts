import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { inOneMoment } from "../../test/support/dispatch-rows.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { pretend } from "../../test/support/pretended-server.ts";
import { ConfigError } from "../shared/config-error.ts";
import { createPool, type Db, type Pool, type PoolClient } from "./pool.ts";
import { ensureRoles, findRoleTrouble } from "./roles.ts";

const ROLES = ["owner", "tenant", "publisher", "worker"].map((name) => `postern_${name}`);
const MAY_NOT = "The database's user may not make the database roles that Postern's queries run under";
const REMEDY = "Let an administrator run this once, in any database of the server";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

/** As the administrator finds it, but for what `alter` does to the rows of each look. */
function altered(alter: (row: Record<string, unknown>, look: number) => object): Db & { asked: string[] } {
  let looks = 0;
  const asked: string[] = [];
  return {
    asked,
    async query(text, values) {
      asked.push(typeof text === "string" ? text : text.text);
      const found = await database.pool.query(text, values);
      if (found.fields[0]?.name !== "role") return found;
      looks++;
      for (const row of found.rows) Object.assign(row, alter(row, looks));
      return found;
    },
  };
}

/** As a user without any right, who goes with the transaction. */
async function asStranger(work: (client: PoolClient, user: string) => Promise<void>): Promise<void> {
  await inOneMoment(database.pool, async (client) => {
    const user = `stranger_${process.pid}`;
    await client.query(`CREATE ROLE ${user}; SAVEPOINT made; SET LOCAL ROLE ${user}`);
    await work(client, user);
  });
}

/** On a server that says other things of itself. */
async function pretending(statements: readonly string[], work: (pool: Pool) => Promise<void>): Promise<void> {
  const { url } = await pretend(database, statements);
  const pool = createPool({ url, poolSize: 1, applicationName: "test", connectionTimeoutMs: 5000 });
  try {
    await work(pool);
  } finally {
    await pool.end();
  }
}

/** Of these nobody makes roles. */
const rolesWhere = (condition: string): string =>
  `VIEW pg_roles AS SELECT oid, rolname, false AS rolsuper, false AS rolbypassrls, false AS rolcreaterole
    FROM pg_catalog.pg_roles WHERE ${condition}`;

/** That is what the user has, and USAGE of the owner. */
const has = (asked: string): string =>
  `FUNCTION pg_has_role(name, oid, text) RETURNS boolean
    RETURN $3 = CASE WHEN pg_get_userbyid($2) = 'postern_owner' THEN 'USAGE' ELSE '${asked}' END`;

describe("the roles that queries run under", () => {
  it("go on after another process that makes the same roles at the same moment", async () => {
    // At its first look, as it was before the other had made them.
    const db = altered((_row, look) => (look === 1 ? { exists: false } : {}));
    await ensureRoles(db);
    assert.deepEqual(db.asked.slice(1, -1), ["CREATE ROLE postern_owner NOLOGIN"]);
    assert.equal(db.asked.length, 3, "it looks again after what was there already");
  });

  it("are looked for once where they are all there, and then trouble nobody", async () => {
    const db = altered(() => ({}));
    await ensureRoles(db);
    assert.equal(db.asked.length, 1);
    assert.equal(await findRoleTrouble(database.pool), null);
  });

  it("are the administrator's to make where the user may not, by statements that are told", async () => {
    await asStranger(async (client, user) => {
      const statements = ROLES.map((role) => `GRANT ${role} TO ${user};`);
      const fix = `${REMEDY}: ${statements.join(" ")}`;
      assert.deepEqual(await findRoleTrouble(client), { detail: MAY_NOT, fix });
      const error = await ensureRoles(client).catch((thrown: unknown) => thrown);
      assert.ok(error instanceof ConfigError);
      assert.equal(error.message, `${MAY_NOT}. ${REMEDY}:\n\n${statements.join("\n")}\n`);
    });
  });

  it("are told for a member who does not inherit so that the statement helps, not with the grant that is there", async () => {
    await asStranger(async (client, user) => {
      const run = (sql: string) => client.query(`RESET ROLE; ${sql}; SET LOCAL ROLE ${user}`);
      await run(`ALTER ROLE ${user} NOINHERIT`);
      for (const role of ROLES) await run(`GRANT ${role} TO ${user}`);
      const trouble = await findRoleTrouble(client);
      assert.ok(trouble !== null);
      await run(trouble.fix.replace(`${REMEDY}: `, "").replace(/;$/, ""));
      assert.equal(await findRoleTrouble(client), null, trouble.fix);
    });
  });

  it("are told in the same way for a member who may not set a role", async () => {
    await asStranger(async (client, user) => {
      const run = (sql: string) => client.query(`RESET ROLE; ${sql}; SET LOCAL ROLE ${user}`);
      const { rows } = await client.query(
        "SELECT current_setting('server_version_num')::integer < 160000 AS may",
      );
      // Before PostgreSQL 16 a member may always set it.
      if (rows[0]?.may === true) return;
      for (const role of ROLES) await run(`GRANT ${role} TO ${user} WITH SET FALSE`);
      const trouble = await findRoleTrouble(client);
      assert.ok(trouble !== null);
      await run(trouble.fix.replace(`${REMEDY}: `, "").replace(/;$/, ""));
      assert.equal(await findRoleTrouble(client), null, trouble.fix);
    });
  });

  it("are no trouble for a user who is no superuser just where a start makes that user their member", async () => {
    await asStranger(async (client, user) => {
      const run = (sql: string) =>
        client.query(`RESET ROLE; ${sql}; SET LOCAL ROLE ${user}; SAVEPOINT begun`);
      const bothSay = async (): Promise<boolean> => {
        const trouble = await findRoleTrouble(client);
        const isRefused = await ensureRoles(client).then(
          () => false,
          (error: unknown) => error instanceof ConfigError,
        );
        await client.query("ROLLBACK TO begun");
        assert.equal(trouble !== null, isRefused);
        return isRefused;
      };
      const { rows } = await client.query(
        "SELECT current_setting('server_version_num')::integer < 160000 AS is_old",
      );
      await run("SELECT");
      assert.equal(await bothSay(), true);
      await run(`ALTER ROLE ${user} CREATEROLE`);
      // Since PostgreSQL 16 it may grant only what it has made, as where another installation's user made them.
      assert.equal(await bothSay(), rows[0]?.is_old !== true);
      if (rows[0]?.is_old === true) return;
      await run(
        `ALTER ROLE ${user} NOCREATEROLE; GRANT ${ROLES.join(", ")} TO ${user} WITH ADMIN TRUE, INHERIT FALSE, SET FALSE`,
      );
      assert.equal(await bothSay(), false);
    });
  });

  it("are no trouble where this user may make them", async () => {
    const missing = altered(({ role }) =>
      role === "postern_worker" ? { exists: false, isUsable: false } : {},
    );
    assert.equal(await findRoleTrouble(missing), null);
  });

  it("are given up where others make and take them without end", async () => {
    const db = altered(({ role }) => (role === "postern_owner" ? { exists: false } : {}));
    const error = await ensureRoles(db).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof ConfigError);
    assert.equal(error.message, `${MAY_NOT}. ${REMEDY}:\n\nCREATE ROLE postern_owner NOLOGIN;\n`);
    assert.equal(db.asked.length, 20);
  });

  it("are not looked for again after an error that says nothing of them", async () => {
    const change = { isUsable: false, isMember: false, user: "no user" };
    const db = altered(({ role }) => (role === "postern_owner" ? change : {}));
    await assert.rejects(ensureRoles(db), { code: "42601" });
    assert.equal(db.asked.length, 2);
  });

  it("may be entered by a user who is only a member before PostgreSQL 16, and only with the right to set them since", async () => {
    for (const { version, asked } of [
      { version: "159999", asked: "MEMBER" },
      { version: "160000", asked: "SET" },
    ]) {
      await pretending(
        [
          `FUNCTION current_setting(text) RETURNS text RETURN CASE $1 WHEN 'server_version_num' THEN '${version}' ELSE pg_catalog.current_setting($1) END`,
          has(asked),
          rolesWhere("true"),
        ],
        async (pool) => assert.equal(await findRoleTrouble(pool), null),
      );
    }
  });

  it("are made and granted where one is missing, which bypasses nothing", async () => {
    await pretending([rolesWhere("rolname <> 'postern_worker'")], async (pool) => {
      const user = decodeURIComponent(new URL(database.url).username);
      const fix = `${REMEDY}: CREATE ROLE postern_worker NOLOGIN; GRANT postern_worker TO ${user};`;
      assert.deepEqual(await findRoleTrouble(pool), { detail: MAY_NOT, fix });
    });
  });

  for (const right of ["rolsuper", "rolbypassrls"]) {
    it(`are refused where the server says that one has ${right}`, async () => {
      const others = ["rolsuper", "rolbypassrls"].map((name) =>
        name === right ? `rolname = 'postern_worker' AS ${name}` : `false AS ${name}`,
      );
      await pretending(
        [
          `VIEW pg_roles AS SELECT oid, rolname, rolcreaterole, ${others.join(", ")} FROM pg_catalog.pg_roles`,
        ],
        async (pool) => {
          await assert.rejects(ensureRoles(pool), {
            message: /\n\nALTER ROLE postern_worker NOSUPERUSER NOBYPASSRLS;\n$/,
          });
        },
      );
    });
  }

  it("are refused where one may bypass row-level security, with what to run", async () => {
    const db = altered(({ role }) => ({ isUnsafe: role === "postern_tenant" || role === "postern_worker" }));
    await assert.rejects(ensureRoles(db), {
      name: "ConfigError",
      message:
        "Row-level security does not hold for a role that may bypass it. Let an administrator run:\n\n" +
        "ALTER ROLE postern_tenant NOSUPERUSER NOBYPASSRLS;\nALTER ROLE postern_worker NOSUPERUSER NOBYPASSRLS;\n",
    });
  });
});
