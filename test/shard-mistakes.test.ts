/** A start with databases that do not belong together: it stops, and says what to do. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { makeSecrets } from "../src/config.ts";
import { createEndpoint, publish } from "./support/api.ts";
import { createTestDatabase } from "./support/postgres.ts";
import { runProgram } from "./support/program.ts";
import { delivered, owner, prepareShardTests, producer, type ShardTests } from "./support/shard-programs.ts";

let t: ShardTests;
before(async () => {
  t = await prepareShardTests();
});
afterEach(() => t.end());
after(() => t.close());

/** What a start with other settings says as it stops. */
async function refusal(change: Record<string, string>): Promise<string> {
  const { code, errors } = await runProgram(["worker"], { ...t.settings(), ...change });
  assert.equal(code, 1, errors);
  return errors;
}

/** Each shard's entry of `SHARDS`. */
function entries(): [one: string, other: string] {
  const [one = "", other = ""] = t.shards().setting.split("|");
  return [one, other];
}

describe("settings of shards", () => {
  it("are refused beside DATABASE_URL and OBJECT_STORE_URL", async () => {
    await t.prepare();
    const errors = await refusal({
      DATABASE_URL: "postgres://127.0.0.1/one",
      OBJECT_STORE_URL: "s3://bucket?region=eu-central-1",
    });
    for (const name of ["DATABASE_URL", "OBJECT_STORE_URL"])
      assert.match(errors, new RegExp(`SHARDS and ${name} are both set: .+`));
  });

  it("are refused where a name stands twice", async () => {
    await t.prepare();
    const [one, other] = entries();
    assert.match(
      await refusal({ SHARDS: `${one}|${other.replace("eu2=", "eu1=")}` }),
      /names eu1 twice: give/,
    );
  });
});

describe("a start on shards", () => {
  it("refuses one database under two names, whatever its addresses are", async () => {
    await t.prepare();
    const [one] = entries();
    const again = one.replace("eu1=", "eu2=").replace("127.0.0.1", "localhost");
    const errors = await refusal({ SHARDS: `${one}|${again}` });
    assert.match(errors, /names one database twice, as eu1 and as eu2\.\s+Give each shard/);
  });

  it("refuses names that were exchanged, and another first shard", async () => {
    const program = await t.begin();
    await program.end("SIGTERM");
    const [one, other] = entries();
    const [two, first] = [one.replace("eu1=", "eu2="), other.replace("eu2=", "eu1=")];
    assert.match(
      await refusal({ SHARDS: `${first}|${two}` }),
      /calls eu1 is the shard eu2\.\s+Give each database/,
    );
    assert.match(await refusal({ SHARDS: `${other}|${one}` }), /eu2 is first.*\s+Put the shards back/);
  });

  it("refuses to do without a shard in which tenants live", async () => {
    const program = await t.begin();
    await createEndpoint(program, { url: t.receiver.url }, { as: owner(t.shards().newTenant("eu2")) });
    await program.end("SIGTERM");
    const [one] = entries();
    assert.match(
      await refusal({ SHARDS: one }),
      /does not name: eu2 \(1 of them\)\.\s+Add these shards again/,
    );
  });

  it("refuses a new shard that has tenants, and one of another installation", async () => {
    const program = await t.begin();
    await t.twoEndpoints(program);
    await program.end("SIGTERM");
    const before = t.settings();
    const [, other] = entries();
    const strange = await createTestDatabase();
    try {
      const SHARDS = `eu1=${strange.url}|${other}`;
      assert.match(await refusal({ SHARDS }), /eu2 belongs to another installation.*\s+Name the database/);
      await strange.pool.query("DELETE FROM postern.shard");
      await t.rows("eu2", "DELETE FROM postern.shard");
      assert.match(
        await refusal({ SHARDS: before["SHARDS"] ?? "" }),
        /eu2 holds tenants already.*\s+Give a new shard/,
      );
    } finally {
      await strange.drop();
    }
  });

  it("refuses shards of different versions, and another encryption key", async () => {
    const program = await t.begin();
    await t.twoEndpoints(program);
    await program.end("SIGTERM");
    const { INTEGRATION_ENCRYPTION_KEY } = makeSecrets();
    assert.match(
      await refusal({ INTEGRATION_ENCRYPTION_KEY }),
      /Shard eu[12]: INTEGRATION_ENCRYPTION_KEY lacks key/,
    );
    await t.rows(
      "eu2",
      "INSERT INTO postern.schema_migrations VALUES (9999, 'of_a_newer_release', repeat('a', 64))",
    );
    assert.match(await refusal({}), /eu2 is at 9999, and eu1 is behind\.\s+Run `postern migrate`/);
  });
});

describe("a start on one database", () => {
  it("refuses one that is a shard", async () => {
    const program = await t.begin();
    await program.end("SIGTERM");
    const errors = await refusal({ SHARDS: "", DATABASE_URL: t.shards().database("eu2").url });
    assert.match(errors, /is the shard eu2 of several\.\s+Set SHARDS/);
  });

  it("is followed by one on shards, of which it is the first: its tenants stay", async () => {
    await t.prepare();
    const DATABASE_URL = t.shards().database("eu1").url;
    const SHARDS = t.shards().setting;
    const alone = await t.start("up", (env) => ({ ...env, SHARDS: "", DATABASE_URL }));
    const tid = t.shards().newTenant("eu2");
    const { endpoint } = await createEndpoint(alone, { url: `${t.receiver.url}/${tid}` }, { as: owner(tid) });
    await alone.end("SIGTERM");
    const program = await t.start("up", (env) => ({ ...env, SHARDS, DATABASE_URL: "" }));
    await publish(program, "invoice.paid", { as: producer(tid) });
    await delivered(program, { tid, id: endpoint.id });
    assert.deepEqual(await t.rows("eu2", "SELECT FROM postern.endpoints"), []);
  });
});
