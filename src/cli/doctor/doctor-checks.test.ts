import assert from "node:assert/strict";
import { promises as dns } from "node:dns";
import { createServer } from "node:net";
import { after, before, describe, it } from "node:test";
import { TLSSocket } from "node:tls";
import { makeTestCa } from "../../../test/support/certificates.ts";
import { captured } from "../../../test/support/command.ts";
import { startDnsServer, type DnsAnswer } from "../../../test/support/dns-server.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { freePort } from "../../../test/support/free-port.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { pretend, sayHost, type Pretended } from "../../../test/support/pretended-server.ts";
import { temporaryPath } from "../../../test/support/temporary.ts";
import { listen } from "../../../test/support/tls-receiver.ts";
import { makeSecrets, readConfig, type Environment } from "../../config.ts";
import { createPool } from "../../database/pool.ts";
import { directoryBucketName } from "../../storage/bytes/directory-bucket.ts";
import { loadMigrations } from "../databases.ts";
import { checkDatabase, checkDns, checkObjectStores } from "./doctor-checks.ts";
import { checkDurability, checkHosts } from "./doctor-hosts.ts";
import { tellFindings } from "./doctor.ts";
import type { Finding } from "./finding.ts";

const dataDir = temporaryPath("data");
const told = (findings: readonly Finding[]) =>
  findings.map(({ check, status, detail }) => `${status} ${check}: ${detail}`);

let database: TestDatabase;
let pretended: Pretended;
before(async () => {
  database = await createTestDatabase();
  pretended = await pretend(database, []);
});
after(() => database.drop());

const settings = (env: Environment = {}) =>
  readConfig({ ...makeSecrets(), DATABASE_URL: database.url, DATA_DIR: dataDir, ...env });

describe("what is told of findings", () => {
  const ok: Finding = { check: "node", status: "ok", detail: "Node 24" };
  const info: Finding = { check: "moves", status: "info", detail: "lacks", fix: "add it" };
  const fail: Finding = { check: "roles", status: "fail", detail: "none", fix: "make them" };

  it("is a line for each, with what to do about it, and a failure in the exit code", async () => {
    assert.deepEqual(await captured(async () => tellFindings([ok, info, fail], false)), {
      code: 1,
      printed:
        "ok    node: Node 24\ninfo  moves: lacks\n      → add it\nfail  roles: none\n      → make them\n",
      errors: "",
    });
    assert.equal((await captured(async () => tellFindings([ok, info], false))).code, 0);
    const asJson = await captured(async () => tellFindings([ok, fail], true));
    assert.deepEqual([asJson.code, JSON.parse(asJson.printed)], [1, [ok, fail]]);
  });
});

describe("what is told of a database", () => {
  it("is its name and version, its schema, its key, its clock and its workers", async () => {
    const { pathname, host } = new URL(database.url);
    const [server = "", ...more] = told(await checkDatabase(settings()));
    assert.ok(server.startsWith(`ok database: ${pathname.slice(1)} on ${host}, PostgreSQL `), server);
    assert.deepEqual(more, [
      "warn durability: a crash of the database's machine may lose accepted events, or the whole database: fsync is off",
      "ok schema: up to date",
      "ok encryption key: opens every stored secret",
      "ok clock: that of this machine",
      "ok workers: none runs on this database now",
    ]);
  });

  it("is which migrations are to come: five by their names, and whether there are more", async () => {
    const files = (await loadMigrations()).filter(({ version }) => version !== null).map(({ file }) => file);
    await database.pool.query("CREATE TABLE kept AS SELECT * FROM postern.schema_migrations");
    for (const [count, more] of [
      [5, ""],
      [6, ", …"],
    ] as const) {
      const names = files.slice(-count);
      await database.pool.query(
        `DELETE FROM postern.schema_migrations
          WHERE version IN (SELECT version FROM kept ORDER BY version DESC LIMIT $1)`,
        [count],
      );
      assert.equal(
        told(await checkDatabase(settings())).at(-1),
        `warn schema: not applied yet: ${count} files (${names.slice(0, 5).join(", ")}${more})`,
      );
    }
    await database.pool.query(
      "INSERT INTO postern.schema_migrations SELECT * FROM kept ON CONFLICT DO NOTHING; DROP TABLE kept",
    );
  });

  it("says which encoding it has, if that is not UTF8, and what to do", async () => {
    const narrow = await createTestDatabase({ migrated: false, encoding: "LATIN1" });
    try {
      const [finding] = await checkDatabase(settings({ DATABASE_URL: narrow.url }));
      assert.equal(finding?.status, "fail");
      assert.match(finding.detail, /, PostgreSQL [^,]+, encoding LATIN1$/);
      assert.match(Object(finding).fix, /^create a database with TEMPLATE template0 ENCODING 'UTF8'/);
    } finally {
      await narrow.drop();
    }
  });

  it("that takes no writes is told, and what to do", async () => {
    const name = new URL(database.url).pathname.slice(1);
    await database.pool.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    try {
      const found = await checkDatabase(settings({ DATABASE_URL: database.url }));
      const [first, second] = found;
      assert.deepEqual([first?.status, second?.check, second?.status], ["ok", "writes", "fail"]);
      assert.equal(second?.detail, "the database is read-only");
      assert.match(
        Object(second).fix,
        /^Name the primary in DATABASE_URL or SHARDS, or set default_transaction_read_only off/,
      );
      assert.ok(found.some(({ check, status }) => check === "schema" && status === "ok"));
    } finally {
      await database.pool.query("SET default_transaction_read_only = off");
      await database.pool.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    }
  });

  it("whose TLS fails is told with the reason, and what to do", async (test) => {
    const ca = await makeTestCa();
    const { keyPem: key, certPem: cert } = await ca.issue();
    const server = createServer((socket) => {
      socket.once("data", () => {
        socket.write("S");
        const options = { key, cert, ca: [ca.caPem], requestCert: true, rejectUnauthorized: true };
        new TLSSocket(socket, { isServer: true, ...options }).on("error", () => undefined);
      });
    });
    const DATABASE_URL = `postgres://127.0.0.1:${await listen(server)}/x?sslmode=no-verify`;
    test.after(() => server.close());
    const [finding, ...others] = await checkDatabase(settings({ DATABASE_URL }));
    assert.deepEqual([finding?.status, others], ["fail", []]);
    assert.equal(
      finding?.detail,
      "No TLS connection to the database comes about: tlsv13 alert certificate required.",
    );
    assert.match(Object(finding).fix, /asks for a client's certificate, add sslcert and sslkey/);
  });

  it("that is no PostgreSQL is told, too, where TLS is asked for", async (test) => {
    const server = createServer(
      (socket) => void socket.once("data", () => socket.end("HTTP/1.1 400 \r\n\r\n")),
    );
    const DATABASE_URL = `postgres://127.0.0.1:${await listen(server)}/x?sslmode=verify-full`;
    test.after(() => server.close());
    const [finding] = await checkDatabase(settings({ DATABASE_URL }));
    assert.match(finding?.detail ?? "", /^No TLS connection to the database comes about: /);
    assert.match(Object(finding).fix, /^Check that PostgreSQL answers at the port of DATABASE_URL/);
  });

  it("that is away is where it was looked for, and what to do", async () => {
    const DATABASE_URL = `postgres://127.0.0.1:${await freePort()}/x`;
    const [finding, ...others] = await checkDatabase(settings({ DATABASE_URL }));
    assert.deepEqual([finding?.check, finding?.status, others], ["database", "fail", []]);
    assert.match(finding?.detail ?? "", /^The database can't be used: .*ECONNREFUSED.*\.$/);
    assert.match(Object(finding).fix, /^Check its URL in DATABASE_URL/);
  });
});

/** Of a server that has these settings, as one or as a list of hosts. */
async function durabilityOf(
  statements: readonly string[],
  { durability = "local", isList = true }: { durability?: "local" | "standby"; isList?: boolean } = {},
): Promise<string[]> {
  const server = await pretend(database, [
    "FUNCTION pg_has_role(name, text, text) RETURNS boolean RETURN true",
    settingsAre({}),
    ...statements,
  ]);
  const db = createPool({
    url: server.url,
    poolSize: 1,
    applicationName: "test",
    connectionTimeoutMs: 5000,
  });
  try {
    const databaseUrl = isList ? "postgres://a,b/postern" : "postgres://a/postern";
    return told(await checkDurability(db, { databaseUrl, durability }));
  } finally {
    await db.end();
  }
}

const settingsAre = ({ names = "", commit = "on", fsync = "on" }) =>
  `FUNCTION current_setting(text) RETURNS text RETURN CASE $1 WHEN 'synchronous_standby_names' THEN '${names}'
    WHEN 'synchronous_commit' THEN '${commit}' WHEN 'fsync' THEN '${fsync}' ELSE pg_catalog.current_setting($1) END`;
const standbys = (...rows: [name: string, state: string, behind: number][]) =>
  `VIEW pg_stat_replication AS SELECT name AS application_name, sync_state, 'streaming'::text AS state,
      NULL::interval AS replay_lag, pg_current_wal_lsn() - behind::numeric AS replay_lsn, 1 AS pid
    FROM (VALUES ${rows.map(([name, state, behind]) => `('${name}', '${state}', ${behind})`).join(", ")}) AS given (name, sync_state, behind)`;

describe("what is told of artifacts", () => {
  it("is the trouble that a process found with the bucket's owner, and that comparing stopped", async () => {
    const config = settings();
    const ofArtifacts = async () =>
      told(
        (await checkDatabase(config)).filter(({ check }) => ["owner mark", "reconciling"].includes(check)),
      );
    assert.deepEqual(await ofArtifacts(), []);
    for (const bucket of [directoryBucketName(undefined), "another"]) {
      await database.pool.query(
        "INSERT INTO postern.storage_buckets (bucket, installation_id, trouble) VALUES ($1, gen_random_uuid(), $1 || ' is lost')",
        [bucket],
      );
      await database.pool.query(
        `INSERT INTO postern.storage_cursor (bucket, run_id, updated_at, halted_at, halted_reason)
          VALUES ($1, gen_random_uuid(), now(), '2026-01-31Z', $1 || ' is gone')`,
        [bucket],
      );
    }
    const bucket = directoryBucketName(undefined);
    assert.deepEqual(await ofArtifacts(), [
      `fail owner mark: ${bucket} is lost`,
      `fail reconciling: stopped since 2026-01-31T00:00:00.000Z: ${bucket} is gone`,
    ]);
    await database.pool.query("DELETE FROM postern.storage_buckets; DELETE FROM postern.storage_cursor");
  });
});

describe("what is told of commits", () => {
  it("is that a crash may lose what was answered, of a single host and of a list", async () => {
    for (const isList of [true, false]) {
      assert.deepEqual(await durabilityOf([settingsAre({ commit: "off" })], { isList }), [
        "warn durability: a crash of the database may lose accepted events: synchronous_commit is off",
      ]);
      assert.deepEqual(await durabilityOf([settingsAre({ commit: "off", fsync: "off" })], { isList }), [
        "warn durability: a crash of the database's machine may lose accepted events, or the whole database: fsync is off",
      ]);
    }
  });

  it("is nothing where they wait for the disk", async () => {
    for (const commit of ["on", "local", "remote_write", "remote_apply"]) {
      assert.deepEqual(await durabilityOf([settingsAre({ commit })], { isList: false }), [], commit);
    }
  });
});

describe("what is told of standbys", () => {
  it("is nothing of a single host from which none is demanded", async () => {
    assert.deepEqual(await durabilityOf([], { isList: false }), []);
    assert.deepEqual(await durabilityOf([], { isList: false, durability: "standby" }), [
      "fail durability: the database has no synchronous standby: synchronous_standby_names is empty",
    ]);
  });

  it("is which of them a commit waits for, these first", async () => {
    const [line = ""] = await durabilityOf([
      settingsAre({ names: "b" }),
      standbys(["a", "async", 5000], ["b", "sync", 5000]),
    ]);
    assert.match(
      line,
      /^ok durability: each commit is on a standby: b \(sync, \d+ bytes behind\), a \(async, \d+ bytes behind\)$/,
    );
  });

  it("is that commits may be lost where none is waited for, and a failure only where that is demanded", async () => {
    const local = "local, so a failover may lose the last commits";
    assert.deepEqual(await durabilityOf([]), [`ok durability: ${local}: no standby follows`]);
    const [line = ""] = await durabilityOf([standbys(["a", "async", 5000])]);
    assert.match(line, new RegExp(`^ok durability: ${local}: a \\(async, \\d+ bytes behind\\)$`));
    const demanded = await durabilityOf([settingsAre({ names: "a", commit: "local" })], {
      durability: "standby",
    });
    assert.deepEqual(demanded, [
      "fail durability: the database's commits don't wait for a standby's disk: synchronous_commit is local",
    ]);
  });

  it("is that they cannot be seen", async () => {
    const hidden = ["FUNCTION pg_has_role(name, text, text) RETURNS boolean RETURN false"];
    assert.deepEqual(await durabilityOf(hidden), [
      "warn durability: local; /metrics can't show how the standbys follow",
    ]);
  });
});

describe("what is told of name servers", () => {
  it("is that they answer, be it that there is no such name or no address of it", async () => {
    let answer: DnsAnswer = { kind: "addresses", addresses: ["192.0.2.1"] };
    const server = await startDnsServer(() => answer);
    try {
      for (const kind of ["addresses", "nxdomain", "nodata"] as const) {
        answer = { kind, addresses: ["192.0.2.1"] };
        assert.deepEqual(told([await checkDns([server.address])]), ["ok name servers: answer"], kind);
      }
      answer = { kind: "servfail" };
      assert.deepEqual(told([await checkDns([server.address])]), [
        "fail name servers: no answer for example.com (ESERVFAIL). Receivers' names can't be resolved",
      ]);
    } finally {
      await server.close();
    }
  });

  it("is that none answers after three seconds, and they are asked no more", async (test) => {
    const server = await startDnsServer(() => ({ kind: "silent" }));
    test.after(() => server.close());
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const cancelled = test.mock.method(dns.Resolver.prototype, "cancel");
    const checking = checkDns([server.address]);
    await eventually(async () => server.questionCount("example.com", "AAAA") === 1);
    test.mock.timers.tick(3000);
    assert.deepEqual(told([await checking]), [
      "fail name servers: no answer for example.com (ETIMEOUT). Receivers' names can't be resolved",
    ]);
    // What is still asked would keep the command from its end.
    assert.equal(cancelled.mock.callCount(), 1);
  });
});

describe("what is told of hosts", () => {
  it("is nothing of a single one, and of a list each as it is", async () => {
    assert.deepEqual(await checkHosts({ databaseUrl: undefined, dataDir }), []);
    assert.deepEqual(await checkHosts({ databaseUrl: database.url, dataDir }), []);
    const { hostname, port } = new URL(database.url);
    await pretended.say(sayHost({ isStandby: true }));
    const url = new URL(pretended.url);
    const nobody = await freePort();
    const list = url.href.replace(`${hostname}:${port}`, `${hostname}:${port},127.0.0.1:${nobody}`);
    const [standby, away, ...others] = await checkHosts({ databaseUrl: list, dataDir });
    assert.deepEqual(others, []);
    assert.deepEqual(told(standby === undefined ? [] : [standby]), [
      `ok host: ${hostname}:${port} is a standby`,
    ]);
    assert.deepEqual([away?.check, away?.status], ["host", "warn"]);
    assert.match(away?.detail ?? "", new RegExp(`^127\\.0\\.0\\.1:${nobody} cannot be used: `));
    assert.match(Object(away).fix, /^Check its URL in DATABASE_URL/);
  });

  it("is left to the finding of the database where a certificate of the URL is not there", async () => {
    const list = "postgres://a:1,b:1/postern?sslmode=verify-full&sslrootcert=/nowhere/ca.pem";
    assert.deepEqual(await checkHosts({ databaseUrl: list, dataDir }), []);
  });
});

describe("what is told of object stores", () => {
  it("is one folder, or with shards the bucket of each", async () => {
    assert.deepEqual(told(await checkObjectStores(settings())), ["ok object store: a folder in DATA_DIR"]);
    const SHARDS = "eu1=postgres://127.0.0.1/a|eu2=postgres://127.0.0.1/b";
    const ofShards = (env: Environment) => checkObjectStores(settings({ DATABASE_URL: "", SHARDS, ...env }));
    assert.deepEqual(told(await ofShards({})), ["ok object store: a folder in DATA_DIR"]);
    const nobody = await freePort();
    const buckets = told(
      await ofShards({
        OBJECT_STORE_URL: `s3://bucket?region=us-east-1&endpoint=http://127.0.0.1:${nobody}`,
        AWS_ACCESS_KEY_ID: "x",
        AWS_SECRET_ACCESS_KEY: "y",
      }),
    );
    assert.deepEqual(
      buckets.map((line) => /^fail object store: bucket ([^:]*): /.exec(line)?.[1]),
      ["bucket", "bucket-eu2"],
    );
  });

  it("is that links of a folder lead nowhere where others can reach the API, but not its address", async () => {
    for (const HOST of ["127.0.0.1", "::1", "localhost"]) {
      assert.deepEqual(told(await checkObjectStores(settings({ HOST }))), [
        "ok object store: a folder in DATA_DIR",
      ]);
    }
    assert.deepEqual(told(await checkObjectStores(settings({ HOST: "0.0.0.0" }))), [
      "warn object store: a folder in DATA_DIR; links to its files work on this machine alone",
    ]);
  });
});
