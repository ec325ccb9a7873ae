/** What a start says and refuses, as whoever runs Postern meets it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { makeSecrets, type Environment } from "../src/config.ts";
import { makeTestCa } from "./support/certificates.ts";
import { installPostgres15, startPostgres15, type Server } from "./support/postgres-15.ts";
import { findPgBouncer, startPgBouncer } from "./support/pgbouncer.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { MAIN, runProgram, startProgram } from "./support/program.ts";
import { freePort } from "./support/free-port.ts";
import { startLateServer } from "./support/late-server.ts";

let database: TestDatabase;
let folder: string;
/** A server of its own that offers TLS, by the authority of `caFile`. */
let tlsServer: Server;
let caFile: string;
const secrets = makeSecrets();
/** The commands that work on the database beside a service. */
const ON_A_DATABASE = [
  ["keys", "status"],
  ["keys", "rotate"],
  ["audit"],
  ["storage", "reconcile"],
  ["storage", "doctor"],
  ["storage", "own"],
  ["storage", "trash", "list"],
];

before(async () => {
  database = await createTestDatabase({ migrated: false });
  folder = await mkdtemp(join(tmpdir(), "postern-start-"));
  await installPostgres15(console.error);
  const ca = await makeTestCa();
  tlsServer = await startPostgres15({ fsync: "off" }, await ca.issue());
  caFile = join(folder, "database-ca.pem");
  await writeFile(caFile, ca.caPem);
});
after(async () => {
  await tlsServer.stop();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

async function hasSchema(): Promise<boolean> {
  const { rows } = await database.pool.query("SELECT to_regnamespace('postern') IS NOT NULL AS found");
  return rows[0]?.found;
}

async function refused(args: string[], env: Environment): Promise<{ output: string; errors: string }> {
  const { code, output, errors } = await runProgram(args, { DATA_DIR: folder, PORT: "0", ...env });
  assert.equal(code, 1, output);
  assert.doesNotMatch(output, /^ +at /m, "no stack");
  return { output, errors };
}

describe("a slip on the command line", () => {
  it("ends with status 2 and does nothing", async () => {
    const slip = ["storage", "erase", "--tenant", "acme", "--objct", "nothing", "--yes"];
    const { code, output } = await runProgram(slip, { ...secrets, DATABASE_URL: database.url });
    assert.equal(code, 2);
    assert.match(output, /^postern: there is no option --objct: did you mean --object\?\nAdd --help/);
    assert.equal(await hasSchema(), false);
  });
});

describe("a command without the settings of its Postern", () => {
  it("asks for those, because secrets that are made anew open nothing", async () => {
    // Not the checkout's own folder, in which a demonstration may have left its secrets.
    const { code, errors } = await runProgram(["token", "--tenant", "acme"], { DATA_DIR: folder });
    assert.equal(code, 1);
    assert.match(
      errors,
      /INTEGRATION_ENCRYPTION_KEY is required[^]*\n {2}If Postern is installed already, run this command with its settings/,
    );
  });
});

describe("a start", () => {
  it("tells all wrong settings at once, the catalog's too, before it changes the database", async () => {
    const catalog = join(folder, "catalog.yaml");
    await writeFile(catalog, "- type: invoice.paid\n- type: invoice.paid\n- typ: x\n");
    const { output } = await refused(["up"], {
      DATABASE_URL: database.url,
      HOST: "",
      EVENT_CATALOG: catalog,
    });
    assert.match(output, /INTEGRATION_ENCRYPTION_KEY is required/);
    assert.match(output, /SESSION_JWT_SECRET or SESSION_JWKS_URL is required/);
    assert.match(output, /catalog\.yaml:[0-9]+: /);
    assert.equal(await hasSchema(), false);
  });

  it("refuses a PostgreSQL that is too old, and changes nothing there", async () => {
    // The server answers for its version with what an older one would say.
    await database.pool.query(`DO $$ BEGIN
      CREATE SCHEMA old;
      CREATE FUNCTION old.current_setting(text) RETURNS text LANGUAGE sql AS $f$
        SELECT CASE $1 WHEN 'server_version' THEN '14.19' ELSE pg_catalog.current_setting($1) END $f$;
      EXECUTE format('ALTER DATABASE %I SET search_path = old, pg_catalog, public', current_database());
    END $$`);
    for (const command of [["up"], ["api"], ["worker"], ["migrate"], ...ON_A_DATABASE]) {
      const { errors } = await refused(command, { ...secrets, DATABASE_URL: database.url });
      assert.match(errors, /the database is PostgreSQL 14\.19: Postern needs 15 or newer/, command.join(" "));
    }
    const doctor = await refused(["doctor"], { ...secrets, DATABASE_URL: database.url });
    assert.match(doctor.output, /^fail {2}database: .*PostgreSQL 14\.19\n +→ use PostgreSQL 15 or newer/m);
    assert.equal(await hasSchema(), false);
    await database.pool.query(`DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I RESET search_path', current_database()); END $$`);
  });

  it("in production does not make an embedded database unasked", async () => {
    for (const command of ["up", "migrate"]) {
      const { output } = await refused([command], { ...secrets, NODE_ENV: "production" });
      assert.match(output, /DATABASE_URL is not set, and NODE_ENV is production/, command);
    }
  });

  it("names the database: an embedded one with a warning, in production too where that is asked for", async () => {
    const embedded = await startProgram(["up"], {
      ...secrets,
      DATA_DIR: folder,
      PORT: "0",
      NODE_ENV: "production",
      EMBEDDED_DATABASE: "yes",
    });
    assert.match(embedded.output(), new RegExp(`"level":"?(warn|40)[^\\n]*embedded, in ${folder}/postgres`));
    await embedded.end("SIGTERM");
    const url = new URL(database.url);
    const own = await startProgram(["api"], {
      ...secrets,
      DATA_DIR: folder,
      PORT: "0",
      DATABASE_URL: url.href,
    });
    assert.match(own.output(), new RegExp(`"database":"${url.pathname.slice(1)} on ${url.host}"`));
    assert.ok(url.password !== "" && !own.output().includes(url.password));
    await own.end("SIGTERM");
  });
});

describe("postern health", () => {
  it("exits with 0 where Postern runs, by --ready where its database does too, and else with 1", async () => {
    const program = await startProgram(["api"], {
      ...secrets,
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      PORT: "0",
    });
    const { port } = new URL(program.url);
    const health = (...args: string[]) => runProgram(["health", ...args], { PORT: port });
    assert.equal((await health()).code, 0);
    assert.equal((await health("--ready", "--url", `${program.url}/`)).code, 0);
    assert.equal((await health("--url", `http://127.0.0.1:${port}/nowhere`)).code, 1);
    await program.end("SIGTERM");
    const { code, output } = await health();
    assert.equal(code, 1);
    assert.match(output, /^no answer from http:\S+\/health: connect ECONNREFUSED/);
  });

  it("waits with --wait for a Postern that is still starting, and no longer than that", async () => {
    const PORT = String(await freePort());
    const health = (wait: string) => runProgram(["health", "--ready", "--wait", wait], { PORT });
    const tooLate = await health("1s");
    assert.equal(tooLate.code, 1);
    assert.match(tooLate.output, /^no answer from .*\/ready: connect ECONNREFUSED[^\n]*\n$/);
    const early = health("60s");
    const settings = { ...secrets, DATABASE_URL: database.url, DATA_DIR: folder, PORT };
    const program = await startProgram(["up"], settings);
    const { code, printed } = await early;
    await program.end("SIGTERM");
    assert.equal(code, 0, printed);
    assert.match(printed, /^\{"status":"ready",.*\}\n$/);
  });
});

describe("--wait", () => {
  it("lets a start wait for a database that comes later, and ends when that takes too long", async (context) => {
    const nobody = new URL(tlsServer.url);
    nobody.port = String(await freePort());
    const tooLate = await runProgram(["migrate", "--wait=1s"], { DATABASE_URL: nobody.href });
    assert.equal(tooLate.code, 1);
    assert.match(tooLate.output, /The database can't be used: connect ECONNREFUSED/);
    const [late, other] = [await startLateServer(tlsServer.url), await startLateServer(tlsServer.url)];
    context.after(() => [late, other].forEach((server) => server.close()));
    const migrated = runProgram(["migrate", "--wait", "60s"], { DATABASE_URL: late.url });
    const up = startProgram(["up", "--wait", "60s"], {
      ...secrets,
      DATABASE_URL: other.url,
      DATA_DIR: folder,
      PORT: "0",
    });
    const { code, output } = await migrated;
    assert.equal(code, 0, output);
    assert.match(output, /The schema is (now )?up to date/);
    const service = await up;
    assert.match(service.output(), /"msg":"waiting for the database"/);
    assert.equal((await service.call("GET", "/ready")).status, 200);
    assert.deepEqual(await service.end("SIGTERM"), { code: 0, signal: null });
  });
});

describe("postern migrate", () => {
  it("needs no setting but the database's, and names it", async () => {
    const { code, output } = await runProgram(["migrate"], { DATABASE_URL: database.url });
    assert.equal(code, 0, output);
    assert.match(output, /^Database: \S+ on /m);
    assert.match(output, /The schema is (now )?up to date/);
  });
});

/** Even a superuser may then not listen on a port below 1024. */
const UNPRIVILEGED = ["--bounding-set=-net_bind_service", "--inh-caps=-net_bind_service"];

/** Why this machine lets the program listen on any port, or null. */
function cannotBeRefused(): string | null {
  const { status } = spawnSync("setpriv", [...UNPRIVILEGED, "true"]);
  if (status !== 0) return "setpriv cannot take the right to listen on port 80";
  const first = readFileSync("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8");
  return Number(first) > 80 ? null : "this machine lets every user listen on port 80";
}

async function told(args: string[], env: Environment, wrong: RegExp, remedy: RegExp): Promise<void> {
  const { errors } = await refused(args, { ...secrets, ...env });
  const lines = errors.slice(errors.indexOf("postern:\n")).trimEnd().split("\n").slice(1);
  assert.equal(lines.length, 2, errors);
  assert.match(lines[0] ?? "", wrong);
  assert.match(lines[1] ?? "", remedy);
}
function changed(change: (url: URL) => void): Environment {
  const url = new URL(database.url);
  change(url);
  return { DATABASE_URL: url.href };
}

describe("a mistake of whoever runs it is told in two lines", () => {
  it("a password with a reserved character, and does not show it", async () => {
    const { username, host, pathname } = new URL(database.url);
    for (const password of ["se/cret", "se#cret", "se?cret", "secret%ab1"]) {
      const DATABASE_URL = `postgres://${username}:${password}@${host}${pathname}`;
      await told(["migrate"], { DATABASE_URL }, /DATABASE_URL can't be read/, /Percent-encode .* \/ as %2F/);
      const { output } = await refused(["up"], { ...secrets, DATABASE_URL });
      assert.doesNotMatch(output, /cret/);
    }
  });

  it("a wrong password, and a database that is not there", async () => {
    const wrongPassword = changed((url) => (url.password = "wrong"));
    await told(
      ["up"],
      wrongPassword,
      /does not let Postern in: password authentication/,
      /Check user, password/,
    );
    const noDatabase = changed((url) => (url.pathname = "/nowhere"));
    await told(["up"], noDatabase, /database "nowhere" does not exist/, /Check user, password and database/);
  });

  it("a database that is not running", async () => {
    const nobody = changed((url) => (url.port = "1"));
    await told(["up"], nobody, /The database can't be used: connect ECONNREFUSED/, /Check its URL/);
  });

  it("a user without CREATE", async () => {
    await database.pool.query("CREATE ROLE newcomer LOGIN CREATEROLE PASSWORD 'newcomer'");
    try {
      for (const role of ["owner", "tenant", "publisher", "worker"]) {
        await database.pool.query(`GRANT postern_${role} TO newcomer`);
      }
      const newcomer = changed((url) => {
        url.username = "newcomer";
        url.password = "newcomer";
        url.pathname = "/postgres";
      });
      await told(
        ["migrate"],
        newcomer,
        /permission denied for database postgres/,
        /GRANT CREATE ON DATABASE/,
      );
    } finally {
      await database.pool.query("DROP ROLE newcomer");
    }
  });

  it("a HOST that is not this machine's, and a port that is taken", async () => {
    const elsewhere = { DATABASE_URL: database.url, HOST: "192.0.2.1" };
    await told(
      ["api"],
      elsewhere,
      /listen EADDRNOTAVAIL.* 192\.0\.2\.1/,
      /HOST is no address of this machine/,
    );
    const misspelled = { DATABASE_URL: database.url, HOST: "loclhost.invalid" };
    await told(["api"], misspelled, /loclhost\.invalid/, /HOST is no address of this machine/);
    const { port } = new URL(database.url);
    await told(["api"], { DATABASE_URL: database.url, PORT: port }, /EADDRINUSE/, /set PORT to a free one/);
  });

  it("an API that is not running", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const publish = ["publish", "invoice.paid", "--tenant", "acme", "--url", url];
    await told(publish, {}, /no answer from http:.*: connect ECONNREFUSED/, /Start Postern there/);
  });

  it("an API with another SESSION_JWT_SECRET", async () => {
    const program = await startProgram(["api"], {
      ...secrets,
      PORT: "0",
      DATA_DIR: folder,
      DATABASE_URL: database.url,
    });
    const other = { ...makeSecrets(), DATA_DIR: folder };
    const publish = ["publish", "invoice.paid", "--tenant", "acme", "--url", program.url];
    const { code, errors } = await runProgram(publish, other);
    await program.end("SIGTERM");
    assert.equal(code, 1);
    assert.match(errors, /does not accept this command's token.*SESSION_JWT_SECRET/);
  });

  it("a privileged port", async (context) => {
    const why = cannotBeRefused();
    if (why !== null) return context.skip(`DID NOT RUN: ${why}`);
    const env = { ...secrets, DATABASE_URL: database.url, DATA_DIR: folder, PORT: "80" };
    const { code, errors } = await runProgram([...UNPRIVILEGED, MAIN, "api"], env, "setpriv");
    assert.equal(code, 1, errors);
    assert.match(
      errors,
      /^postern:\n {2}listen EACCES: permission denied 127\.0\.0\.1:80\n {2}.*: set PORT to a higher one, for example 8080\.\n$/m,
    );
  });

  it("TLS asked of a server without it", async () => {
    const tls = changed((url) => url.searchParams.set("sslmode", "require"));
    await told(["migrate"], tls, /asks for TLS/, /Turn on TLS there/);
  });

  it("a file that sslrootcert names and that is not there, or a folder", async () => {
    for (const [path, code] of [
      ["/nowhere/db-ca.pem", "ENOENT"],
      [folder, "EISDIR"],
    ] as const) {
      const env = changed((url) => url.searchParams.set("sslrootcert", path));
      await told(["up"], env, new RegExp(`sslrootcert of .* can't be read: ${code}`), /Check the path/);
    }
  });

  it("a database's certificate of a private authority, which sslrootcert makes known", async () => {
    const url = new URL(tlsServer.url);
    url.searchParams.set("sslmode", "require");
    await told(
      ["migrate"],
      { DATABASE_URL: url.href },
      /TLS certificate is not trusted/,
      /sslrootcert=.*NODE_EXTRA_CA_CERTS/,
    );
    const trusting = await runProgram(["migrate"], { DATABASE_URL: url.href, NODE_EXTRA_CA_CERTS: caFile });
    assert.equal(trusting.code, 0, trusting.output);
    url.searchParams.set("sslrootcert", caFile);
    const named = await runProgram(["migrate"], { DATABASE_URL: url.href });
    assert.equal(named.code, 0, named.output);
  });

  it("a pooler in transaction mode, while one in session mode serves", async (context) => {
    const found = findPgBouncer();
    if ("missing" in found) return context.skip(`DID NOT RUN: ${found.missing}`);
    for (const mode of ["transaction", "session"] as const) {
      const pooler = await startPgBouncer(found.tool, { folder, mode, url: database.url });
      try {
        const env = { DATABASE_URL: pooler.url };
        if (mode === "session") {
          const { code, output } = await runProgram(["migrate"], env);
          assert.equal(code, 0, output);
          continue;
        }
        for (const command of [["up"], ["migrate"], ...ON_A_DATABASE]) {
          await told(
            command,
            env,
            /a pooler in transaction or statement mode/,
            /PostgreSQL itself, or a pool in session/,
          );
        }
      } finally {
        await pooler.stop();
      }
    }
  });
});
