/** `postern migrate`, `doctor` and commands that work on one database, with shards. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, describe, it } from "node:test";
import * as z from "zod";
import type { Environment } from "../src/config.ts";
import { startDnsServer } from "./support/dns-server.ts";
import { runProgram } from "./support/program.ts";
import { prepareShardTests, type ShardTests } from "./support/shard-programs.ts";

let t: ShardTests;
before(async () => {
  t = await prepareShardTests();
});
afterEach(() => t.end());
after(() => t.close());

const findings = z.array(
  z.object({ check: z.string(), status: z.string(), detail: z.string(), fix: z.string().optional() }),
);

async function examine(change: Environment = {}) {
  const { output } = await runProgram(["doctor", "--json"], { ...t.settings(), ...change });
  return findings.parse(JSON.parse(output));
}

/** `SHARDS`, each with another user of its server. */
function shardsAs(user: string): string {
  return t
    .shards()
    .setting.split("|")
    .map((entry) => {
      const [name, url = ""] = entry.split(/=(.*)/s);
      const changed = new URL(url);
      changed.username = user;
      return `${name}=${changed.href}`;
    })
    .join("|");
}

describe("postern migrate with shards", () => {
  it("brings each up to date, and goes on where it stopped half-way", async () => {
    await t.prepare({ migrated: false });
    const strange = t.shards().setting.replace(/\|eu2=.*$/, "|eu2=postgres://127.0.0.1:1/nowhere");
    const halfway = await runProgram(["migrate"], { ...t.settings(), SHARDS: strange });
    assert.equal(halfway.code, 1);
    assert.match(halfway.output, /^eu1: The schema is now up to date\.$/m);
    const { code, output, errors } = await runProgram(["migrate"], t.settings());
    assert.equal(code, 0, errors);
    assert.match(output, /^eu1: The schema is up to date\.$/m);
    assert.match(output, /^eu2: applied 0040_/m);
    assert.match(output, /^eu2: The schema is now up to date\.$/m);
  });

  it("names the shard whose database belongs to somebody else, and the statement", async () => {
    await t.prepare({ migrated: false });
    const { password, username } = new URL(t.shards().database("eu1").url);
    const [user = "", empty, owner] = ["stranger", "empty", "owner"].map(
      (name) => `${name}_${randomUUID().slice(0, 8)}`,
    );
    await t.rows("eu1", `CREATE ROLE ${user} LOGIN CREATEROLE PASSWORD '${password}'`);
    await t.rows("eu1", `CREATE ROLE ${owner}`);
    await t.rows("eu1", `CREATE DATABASE ${empty} OWNER ${owner}`);
    try {
      const SHARDS = shardsAs(user).replace(/(eu2=.*\/).*$/, `$1${empty}`);
      await t.rows("eu1", `GRANT "${username}" TO ${user}`);
      const { code, errors } = await runProgram(["migrate"], { ...t.settings(), SHARDS });
      assert.equal(code, 1);
      assert.match(
        errors,
        new RegExp(`Shard eu2: The database's user may not .*\n.*GRANT CREATE ON DATABASE ${empty} TO `),
      );
    } finally {
      await t.rows("eu1", `DROP DATABASE ${empty}`);
      await t.rows("eu1", `DROP OWNED BY ${user}`);
      await t.rows("eu1", `DROP ROLE ${user}, ${owner}`);
    }
  });
});

describe("postern doctor with shards", () => {
  it("looks at each, and whether they belong together", async () => {
    const program = await t.begin();
    const found = await examine();
    for (const name of ["eu1", "eu2"]) {
      for (const check of ["database", "schema", "encryption key", "workers", "clock"]) {
        const finding = found.find((one) => one.check === `shard ${name}: ${check}`);
        assert.equal(finding?.status, "ok", `${name}: ${check}: ${finding?.detail}`);
      }
    }
    const together = found.find(({ check }) => check === "shards");
    assert.deepEqual(
      [together?.status, together?.detail],
      ["ok", "2 databases of one installation; eu1 keeps the directory"],
    );
    await program.end("SIGTERM");
    const [one = "", other = ""] = t.shards().setting.split("|");
    const twice = await examine({
      SHARDS: `${one}|${one.replace("eu1=", "eu2=").replace("127.0.0.1", "localhost")}`,
    });
    assert.ok(
      twice.some(({ status, detail }) => status === "fail" && detail.includes("names one database twice")),
    );
    await t.rows("eu1", "INSERT INTO postern.shard_directory VALUES ($1, 'eu3')", [
      t.shards().newTenant("eu1"),
    ]);
    await t.rows(
      "eu2",
      `INSERT INTO postern.handovers (id, tenant_id, shard, type, version, body)
        VALUES ('00000000-0000-7000-8000-000000000000', $1, 'eu1', 'a.b', 1, '{}')`,
      [t.shards().newTenant("eu1")],
    );
    const missing = await examine({ SHARDS: `${one}|${other}` });
    assert.ok(missing.some(({ status, detail }) => status === "fail" && detail.includes("eu3 (1 of them)")));
    const waiting = missing.find(({ check }) => check === "shard eu2: hand-over");
    assert.equal(waiting?.status, "warn");
    assert.match(waiting.detail, /^1 event for another shard waits, the oldest for \d+ s$/);
  });

  it("says what moving a tenant would lack, with the statements, and does not fail for it", async () => {
    const program = await t.begin();
    await program.end("SIGTERM");
    // It asks the network's name servers otherwise.
    const dns = await startDnsServer(() => ({ kind: "nxdomain" }));
    const { output, code } = await runProgram(["doctor"], { ...t.settings(), DNS_SERVERS: dns.address });
    await dns.close();
    assert.equal(code, 0, output);
    for (const name of ["eu1", "eu2"]) {
      assert.match(
        output,
        new RegExp(
          `^info {2}shard ${name}: moving tenants: The server of ${name} has wal_level replica.*\n.*ALTER SYSTEM SET wal_level = logical;`,
          "m",
        ),
      );
    }
    // May what the databases' owner may, and is no superuser.
    const { password, username } = new URL(t.shards().database("eu1").url);
    const user = `mover_${randomUUID().slice(0, 8)}`;
    await t.rows("eu1", `CREATE ROLE ${user} LOGIN PASSWORD '${password}' IN ROLE "${username}"`);
    try {
      const found = await examine({ SHARDS: shardsAs(user) });
      const told = found.map(({ status, detail, fix }) => `${status} ${detail} ${fix}`).join("\n");
      assert.match(told, new RegExp(`info .* may not publish .*ALTER ROLE ${user} REPLICATION;`));
      assert.match(told, /info .* may not subscribe .*MOVE_TO_URL/);
    } finally {
      await t.rows("eu1", `DROP ROLE ${user}`);
    }
  });

  it("says which shard is away, and looks at the others", async () => {
    const program = await t.begin();
    await program.end("SIGTERM");
    await t.shards().proxy("eu2").close();
    const found = await examine();
    const statusOf = (check: string) => found.find((one) => one.check === check)?.status;
    assert.equal(statusOf("shard eu1: schema"), "ok");
    assert.equal(statusOf("shard eu2: database"), "fail");
    assert.equal(statusOf("shards"), "warn");
  });
});

describe("a command that works on one database", () => {
  it("refuses several, and says how to run it", async () => {
    await t.prepare();
    const { code, errors } = await runProgram(["keys", "rotate"], t.settings());
    assert.equal(code, 1);
    assert.match(errors, /works on one database.*\s+Run it once for each/);
  });
});

/** What a storage command on one of the databases says on standard error. */
async function told(shard: string, words: readonly string[]): Promise<string> {
  const { SHARDS: _, ...settings } = t.settings();
  const env = { ...settings, DATABASE_URL: t.shards().database(shard).url };
  return (await runProgram(["storage", ...words], env)).errors;
}

describe("a storage command on one of several databases", () => {
  it("says where a tenant that it names lives in another, and nothing of one that lives there", async () => {
    const { one, other } = await t.twoEndpoints(await t.begin());
    const object = randomUUID();
    for (const commandFor of [
      (tid: string) => ["adopt", "--tenants", tid],
      (tid: string) => ["erase", "--tenant", tid, "--all", "--yes"],
      (tid: string) => ["erase", "--tenant", tid, "--object", object, "--yes"],
      (tid: string) => ["hold", "--tenant", tid, "--object", object],
      (tid: string) => ["trash", "list", "--tenant", tid],
    ]) {
      assert.match(
        await told("eu1", commandFor(other.tid)),
        new RegExp(`^${other.tid} lives in the shard eu2, and this is eu1: `, "m"),
      );
      assert.match(
        await told("eu2", commandFor(one.tid)),
        new RegExp(`^${one.tid} does not live in this shard, eu2: `, "m"),
      );
      assert.doesNotMatch(await told("eu1", commandFor(one.tid)), /shard/);
      assert.doesNotMatch(await told("eu2", commandFor(other.tid)), /shard/);
    }
  });
});
