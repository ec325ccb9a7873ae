/** `postern doctor`, as an operator runs it. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { loadMigrations } from "../src/cli/databases.ts";
import { checkNode } from "../src/cli/doctor/doctor-checks.ts";
import { makeSecrets, type Environment } from "../src/config.ts";
import { sealSigningSecret } from "../src/endpoints/signing-secret.ts";
import { makeSecretBox } from "../src/shared/secret-box.ts";
import { newEndpointId, parseTenantId } from "../src/shared/id.ts";
import { startDnsServer, type DnsAnswer, type DnsServer } from "./support/dns-server.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { runProgram } from "./support/program.ts";
import { freePort } from "./support/free-port.ts";
import { listen } from "./support/tls-receiver.ts";

let database: TestDatabase;
let dns: DnsServer;
let dnsAnswer: DnsAnswer = { kind: "addresses", addresses: ["192.0.2.1"] };
let dataDir: string;
let env: Environment;

before(async () => {
  database = await createTestDatabase();
  dns = await startDnsServer(() => dnsAnswer);
  dataDir = await mkdtemp(join(tmpdir(), "postern-doctor-"));
  env = { ...makeSecrets(), DATABASE_URL: database.url, DATA_DIR: dataDir, DNS_SERVERS: dns.address };
});
after(async () => {
  await dns.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

type Line = { check: string; status: string; detail: string; fix?: string };

async function examine(change: Environment = {}): Promise<{ code: unknown; lines: Line[] }> {
  const { code, printed } = await runProgram(["doctor", "--json"], { ...env, ...change });
  const lines: Line[] = JSON.parse(printed);
  return { code, lines };
}

/** Without that of the tests' server, which is faster because a crash may lose its rows. */
function faults(lines: readonly Line[]): [check: string, status: string][] {
  const found = lines.filter(({ status, check }) => status !== "ok" && check !== "durability");
  return found.map(({ check, status }) => [check, status]);
}

async function sessionKeys(url: string): Promise<string> {
  const session = { SESSION_JWT_SECRET: "", SESSION_ISSUER: "app", SESSION_AUDIENCE: "postern" };
  const { lines } = await examine({ ...session, SESSION_JWKS_URL: url });
  const { status, detail } = lines.find(({ check }) => check === "session keys") ?? {};
  return `${status}: ${detail}`;
}

async function workersOf(): Promise<string> {
  const { lines } = await examine();
  const { status, detail } = lines.find(({ check }) => check === "workers") ?? {};
  return `${status}: ${detail}`;
}

describe("postern doctor", () => {
  it("finds nothing wrong where nothing is, in a line for each thing that it looked at", async () => {
    const { code, output } = await runProgram(["doctor"], env);
    assert.equal(code, 0, output);
    const checks = [...output.matchAll(/^ok {4}([a-z ]+): /gm)].map(([, check]) => check);
    const settings = ["node", "data folder", "settings", "event catalog"];
    const kept = ["database", "schema", "encryption key", "clock", "workers"];
    assert.deepEqual(checks, [...settings, ...kept, "name servers", "object store"]);
    assert.deepEqual(await readdir(dataDir), [], "what it tried to write is removed");
  });

  it("says how the workers share the slots, and warns of slots without a worker", async () => {
    assert.equal(await workersOf(), "ok: none runs on this database now");
    const ids = [randomUUID(), randomUUID()];
    await database.pool.query(
      "INSERT INTO postern.workers (first_lease_id, takes_slots) SELECT unnest($1::uuid[]), true",
      [ids],
    );
    await database.pool.query("UPDATE postern.slots SET owner = ($1::uuid[])[1 + slot / 200]", [ids]);
    assert.equal(await workersOf(), "ok: 2 running, with 200, 56 of 256 slots of endpoints");
    await database.pool.query("DELETE FROM postern.workers WHERE first_lease_id = $1", [ids[1]]);
    assert.equal(await workersOf(), "warn: 1 running, with 200 of 256 slots of endpoints; 56 have no worker");
    await database.pool.query("DELETE FROM postern.workers");
  });

  it("warns, as each start and migrate do in their log, where a crash may lose what was answered", async () => {
    const { code, lines } = await examine();
    const { status, detail = "", fix } = lines.find(({ check }) => check === "durability") ?? {};
    assert.deepEqual([code, status], [0, "warn"]);
    const { output } = await runProgram(["migrate"], env);
    assert.ok(output.includes(`${detail}: ${fix}`), output);
  });

  it("warns of a variable that was meant to be a setting", async () => {
    const { code, lines } = await examine({ OUTBOUND_ALLOWED_CIDR: "10.0.0.0/8" });
    assert.deepEqual([code, faults(lines)], [0, [["settings", "warn"]]]);
    const details = lines.map(({ detail }) => detail);
    assert.ok(
      details.includes("OUTBOUND_ALLOWED_CIDR is no setting: did you mean OUTBOUND_ALLOWED_CIDRS?"),
      details.join("\n"),
    );
  });

  it("warns of a text with white space around it, as a secret from a file has at its end", async () => {
    const { code, lines } = await examine({ SESSION_JWT_SECRET: `${env["SESSION_JWT_SECRET"]}\n` });
    assert.deepEqual([code, faults(lines)], [0, [["settings", "warn"]]]);
    const { detail } = lines.find(({ check, status }) => check === "settings" && status === "warn") ?? {};
    assert.equal(detail, "SESSION_JWT_SECRET begins or ends with white space, which is a part of it");
  });

  it("warns of it as a start does, in the log", async () => {
    const noDatabase = `postgres://postern@127.0.0.1:${await freePort()}/postern`;
    const doubtful = { RETENTION_DAY: "3", SESSION_ISSUER: "https://login.example " };
    const { output } = await runProgram(["worker"], { ...env, DATABASE_URL: noDatabase, ...doubtful });
    assert.match(output, /"level":"warn".*"msg":"SESSION_ISSUER begins or ends with white space/);
    assert.match(
      output,
      /"level":"warn".*"msg":"RETENTION_DAY is no setting: did you mean RETENTION_DAYS\?"/,
    );
  });

  it("warns of a NODE_EXTRA_CA_CERTS that can't be read, which Node ignores", async () => {
    const { code, lines } = await examine({ NODE_EXTRA_CA_CERTS: "/nowhere/ca.pem" });
    assert.deepEqual([code, faults(lines)], [0, [["trusted authorities", "warn"]]]);
    const { detail } = lines.find(({ status }) => status === "warn") ?? {};
    assert.match(detail ?? "", /^NODE_EXTRA_CA_CERTS can't be read: ENOENT.*\/nowhere\/ca\.pem/);
  });

  it("warns of one without a certificate that Node reads, which Node ignores without a word", async () => {
    const file = join(dataDir, "authority.cer");
    await writeFile(file, randomBytes(512));
    const { code, lines } = await examine({ NODE_EXTRA_CA_CERTS: file });
    await rm(file);
    assert.deepEqual([code, faults(lines)], [0, [["trusted authorities", "warn"]]]);
    const { detail } = lines.find(({ status }) => status === "warn") ?? {};
    assert.match(detail ?? "", /^Node has read no certificate from NODE_EXTRA_CA_CERTS .*authority\.cer/);
  });

  it("tells every wrong setting, and looks no further without them", async () => {
    const wrong = {
      PORT: "x",
      SESSION_JWT_SECRET: "short",
      RETENTION_DAY: "3",
      EVENT_CATALOG: "/nowhere.json",
    };
    const { code, lines } = await examine(wrong);
    assert.equal(code, 1);
    assert.deepEqual(faults(lines), [
      ["settings", "fail"],
      ["settings", "fail"],
      ["settings", "warn"],
      ["event catalog", "fail"],
    ]);
    assert.ok(lines.some(({ detail }) => /SESSION_JWT_SECRET .*openssl/.test(detail)));
  });

  it("asks for the settings of the installation where it has no secret at all", async () => {
    const { lines } = await examine({ INTEGRATION_ENCRYPTION_KEY: "", SESSION_JWT_SECRET: "" });
    const fixes = lines.filter(({ check }) => check === "settings").map(({ fix }) => fix);
    assert.equal(fixes.length, 2);
    for (const fix of fixes) assert.match(fix ?? "", /^If Postern is installed already, .*its settings/);
  });

  it("reads the event catalog, and names the line of each fault, also without complete settings", async () => {
    const catalog = join(dataDir, "catalog.yaml");
    await writeFile(catalog, "- type: invoice.paid\n- typ: x\n");
    const { code, lines } = await examine({ EVENT_CATALOG: catalog });
    assert.equal(code, 1);
    const found = faults(lines);
    assert.ok(
      found.length >= 2 && found.every(([check]) => check === "event catalog"),
      JSON.stringify(found),
    );
    assert.match(lines.find(({ status }) => status === "fail")?.detail ?? "", /catalog\.yaml:[0-9]+: /);
    assert.ok(lines.some(({ check, status }) => check === "database" && status === "ok"));
    const both = await examine({ EVENT_CATALOG: join(dataDir, "no.yaml"), PORT: "x" });
    assert.deepEqual(faults(both.lines), [
      ["settings", "fail"],
      ["event catalog", "fail"],
    ]);
  });

  it("reads the key set of session tokens, and says why it can't", async () => {
    let keys: unknown[] = [{ kty: "oct", kid: "one" }];
    const server = createServer((request, response) => {
      response.writeHead(request.url === "/keys" ? 200 : 404).end(JSON.stringify({ keys }));
    });
    const origin = `http://127.0.0.1:${await listen(server)}`;
    try {
      assert.equal(await sessionKeys(`${origin}/keys`), `ok: ${origin}/keys has 1 key`);
      keys = [];
      assert.match(
        await sessionKeys(`${origin}/keys`),
        /^fail: .* has no key: no token of your application is accepted$/,
      );
      assert.equal(
        await sessionKeys(`${origin}/wrong`),
        "fail: SESSION_JWKS_URL can't be read: the key set was answered with 404",
      );
    } finally {
      server.close();
    }
    const nobody = `http://127.0.0.1:${await freePort()}/keys`;
    assert.match(await sessionKeys(nobody), /^fail: SESSION_JWKS_URL can't be read: connect ECONNREFUSED /);
  });

  it("warns of an embedded database, and names its folder", async () => {
    const folder = await mkdtemp(join(tmpdir(), "postern-doctor-embedded-"));
    // Open to the user as whom PostgreSQL runs when the tests run as root.
    await chmod(folder, 0o711);
    try {
      const { code, lines } = await examine({ DATABASE_URL: "", DATA_DIR: folder });
      assert.equal(code, 0);
      assert.deepEqual(faults(lines), [
        ["database", "warn"],
        ["schema", "warn"],
      ]);
      const { detail, fix } = lines.find(({ check }) => check === "database") ?? {};
      assert.ok(detail?.startsWith(`embedded, in ${join(folder, "postgres")}, PostgreSQL `), detail);
      assert.equal(fix, "set DATABASE_URL to a server of your own, unless this is to try Postern");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("goes on when the database is away, and says where to look", async () => {
    const { code, lines } = await examine({ DATABASE_URL: `postgres://127.0.0.1:${await freePort()}/x` });
    assert.equal(code, 1);
    assert.deepEqual(faults(lines), [["database", "fail"]]);
    assert.match(lines.find(({ check }) => check === "database")?.fix ?? "", /DATABASE_URL/);
    assert.ok(lines.some(({ check }) => check === "object store"));
  });

  it("names migrations that are to come, which hinder no start", async () => {
    const empty = await createTestDatabase({ migrated: false });
    try {
      const { code, lines } = await examine({ DATABASE_URL: empty.url });
      assert.equal(code, 0);
      assert.deepEqual(faults(lines), [["schema", "warn"]]);
      const files = (await loadMigrations()).map(({ file }) => file);
      assert.equal(
        lines.find(({ check }) => check === "schema")?.detail,
        `not applied yet: ${files.length} files (${files.slice(0, 5).join(", ")}, …)`,
      );
    } finally {
      await empty.drop();
    }
  });

  it("sees that the database's user may not make roles, and says what an administrator runs", async () => {
    const empty = await createTestDatabase({ migrated: false });
    const user = `no_maker_${randomBytes(4).toString("hex")}`;
    try {
      await database.pool.query(`CREATE ROLE ${user} LOGIN PASSWORD 'pass'`);
      const url = new URL(empty.url);
      url.username = user;
      url.password = "pass";
      const { code, lines } = await examine({ DATABASE_URL: url.href });
      assert.equal(code, 1);
      assert.deepEqual(faults(lines), [
        ["roles", "fail"],
        ["schema", "warn"],
      ]);
      assert.match(
        lines.find(({ check }) => check === "roles")?.fix ?? "",
        new RegExp(`GRANT postern_owner TO ${user};`),
      );
    } finally {
      await database.pool.query(`DROP ROLE IF EXISTS ${user}`);
      await empty.drop();
    }
  });

  it("sees that the key does not open what is stored, and repeats neither", async () => {
    const other = makeSecrets().INTEGRATION_ENCRYPTION_KEY;
    const owner = { tenantId: parseTenantId("acme"), endpointId: newEndpointId() };
    assert.ok(owner.tenantId !== null);
    const box = makeSecretBox([Buffer.from(other, "base64")]);
    const sealed = sealSigningSecret(box, "whsec_x", { ...owner, tenantId: owner.tenantId });
    await database.pool.query(
      `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
        VALUES ($1, $2, 'https://example.com/', '{}', $3, now(), now())`,
      [owner.tenantId, owner.endpointId, sealed],
    );
    const { code, lines } = await examine();
    await database.pool.query("DELETE FROM postern.endpoints");
    assert.equal(code, 1);
    assert.deepEqual(faults(lines), [["encryption key", "fail"]]);
    assert.ok(!JSON.stringify(lines).includes(env["INTEGRATION_ENCRYPTION_KEY"] ?? ""));
  });

  it("a database's clock that is an hour from this machine's, by which requests are signed", async () => {
    const sql = "FUNCTION public.clock_timestamp() RETURNS timestamptz";
    const { pathname } = new URL(database.url);
    await database.pool.query(`CREATE ${sql} RETURN pg_catalog.clock_timestamp() + interval '1 hour';
      ALTER DATABASE ${pathname.slice(1)} SET search_path = public, pg_catalog`);
    const { lines } = await examine();
    await database.pool.query(`ALTER DATABASE ${pathname.slice(1)} RESET search_path;
      DROP FUNCTION public.clock_timestamp()`);
    assert.deepEqual(faults(lines), [["clock", "warn"]]);
    assert.match(
      lines.find(({ check }) => check === "clock")?.detail ?? "",
      /^3(?:59|60)\d s ahead of that of this machine/,
    );
  });

  it("sees a folder that cannot be written", async () => {
    const file = join(dataDir, "a-file");
    await writeFile(file, "");
    const { code, lines } = await examine({ DATA_DIR: join(file, "below") });
    assert.equal(code, 1);
    assert.deepEqual(faults(lines)[0], ["data folder", "fail"]);
  });

  it("takes no such name for an answer of the name servers, and silence not", async () => {
    dnsAnswer = { kind: "nxdomain" };
    assert.deepEqual(faults((await examine()).lines), []);
    dnsAnswer = { kind: "silent" };
    const { code, lines } = await examine();
    dnsAnswer = { kind: "nxdomain" };
    assert.equal(code, 1);
    assert.deepEqual(faults(lines), [["name servers", "fail"]]);
  });

  it("warns of links that lead nowhere for other machines", async () => {
    const { code, lines } = await examine({ HOST: "0.0.0.0" });
    assert.equal(code, 0);
    assert.deepEqual(faults(lines), [["object store", "warn"]]);
    assert.match(lines.at(-1)?.fix ?? "", /PUBLIC_URL/);
    assert.deepEqual(faults((await examine({ HOST: "0.0.0.0", PUBLIC_URL: "https://x.example" })).lines), []);
  });

  it("sees an object store that does not answer", async () => {
    const store = `s3://bucket?region=us-east-1&endpoint=http://127.0.0.1:${await freePort()}`;
    const credentials = { AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "y" };
    const { code, lines } = await examine({ OBJECT_STORE_URL: store, ...credentials });
    assert.equal(code, 1);
    assert.deepEqual(faults(lines), [["object store", "fail"]]);
    assert.match(lines.at(-1)?.detail ?? "", /s3:ListBucket/);
  });
});

describe("checkNode", () => {
  it("wants Node 24", () => {
    assert.equal(checkNode("24.0.0").status, "ok");
    assert.equal(checkNode("26.1.0").status, "ok");
    assert.equal(checkNode("22.9.9").status, "fail");
  });
});
