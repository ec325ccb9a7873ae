import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { pretend, type Pretended } from "../../../test/support/pretended-server.ts";
import { temporaryPath } from "../../../test/support/temporary.ts";
import { makeSecrets, readConfig } from "../../config.ts";
import { joinShards } from "../../shards/join.ts";
import { directoryBucketName } from "../../storage/bytes/directory-bucket.ts";
import { checkShards } from "./doctor-shards.ts";

const NAMES = ["eu1", "eu2"];

let databases: TestDatabase[];
let pretended: Pretended;
before(async () => {
  databases = await Promise.all(NAMES.map(() => createTestDatabase()));
  const marked = databases.map(({ pool }, place) => ({ name: NAMES[place] ?? "", db: pool }));
  await joinShards(marked, NAMES);
  const [first] = databases;
  assert.ok(first !== undefined);
  pretended = await pretend(first, []);
});
beforeEach(async () => {
  await clockIs(0);
  await databases[0]?.pool.query("DELETE FROM postern.handovers; DELETE FROM postern.tenant_moves");
});
after(async () => {
  for (const database of databases) await database.drop();
});

/** The first shard's clock, from that of this machine. */
function clockIs(apartS: number): Promise<void> {
  const now = `pg_catalog.clock_timestamp() + interval '${apartS} s'`;
  return pretended.say([`FUNCTION clock_timestamp() RETURNS timestamptz RETURN ${now}`]);
}

async function examine(urls = [pretended.url, databases[1]?.url ?? ""]) {
  const shards = urls.map((url, place) => ({ name: NAMES[place] ?? "", url, weight: 1 }));
  const setting = shards.map(({ name, url }) => `${name}=${url}`).join("|");
  const config = readConfig({ ...makeSecrets(), SHARDS: setting, DATA_DIR: temporaryPath("data") });
  const found = await checkShards(config, shards);
  return (check: string) => {
    const { status, detail } = found.find((one) => one.check === check) ?? {};
    return status === undefined ? null : `${status}: ${detail}`;
  };
}

async function waitToBeHandedOver(ages: readonly number[]): Promise<void> {
  await databases[0]?.pool.query(
    `INSERT INTO postern.handovers (id, tenant_id, shard, type, version, body)
      SELECT postern.lowest_id_at(now() - age * interval '1 s'), 'acme', 'eu2', 'a.b', 1, '{}' FROM unnest($1::int[]) AS age`,
    [ages],
  );
}

/** What is told of the tenants of each, with these statements in the directory and in the second. */
async function placesToldAfter(directory: string, shard: string) {
  await databases[0]?.pool.query(`TRUNCATE postern.shard_directory; ${directory}`);
  await databases[1]?.pool.query(`TRUNCATE postern.shard_tenants; ${shard}`);
  const told = await examine();
  return [told("shard eu1: tenants"), told("shard eu2: tenants")];
}

/** A question is about a thousand. */
const many = (row: string) => `SELECT ${row} FROM generate_series(1000, 3000) AS n`;

const unknown = (who: string) =>
  `fail: ${who} by the directory, since a move whose end it does not know: it was restored from a backup older than that`;

describe("tenants that a shard has", () => {
  after(() => placesToldAfter("", ""));

  it("are no finding where the directory has them there, and where a move has fenced them", async () => {
    assert.deepEqual(
      await placesToldAfter(
        "INSERT INTO postern.shard_directory VALUES ('acme', 'eu2', 2), ('globex', 'eu1', 1), ('hooli', 'eu1', 1), ('initech', 'eu2', 1)",
        "INSERT INTO postern.shard_tenants (tenant_id, version, fenced) VALUES ('acme', 2, false), ('globex', 1, true), ('hooli', 3, true)",
      ),
      [null, null],
    );
  });

  it("are found where a move has brought them, and the shard knows nothing of it", async () => {
    const directory = "INSERT INTO postern.shard_directory VALUES ('acme', 'eu2', 3), ('globex', 'eu2', 2)";
    assert.deepEqual(
      await placesToldAfter(
        directory,
        "INSERT INTO postern.shard_tenants (tenant_id, version, fenced) VALUES ('acme', 1, true), ('globex', 2, false)",
      ),
      [null, unknown("acme")],
    );
    assert.deepEqual(await placesToldAfter(directory, ""), [null, unknown("acme and 1 more tenant")]);
  });

  it("are found where a move has brought them, and the shard was restored to a moment within it", async () => {
    const directory = "INSERT INTO postern.shard_directory VALUES ('acme', 'eu2', 2)";
    const shard = "INSERT INTO postern.shard_tenants (tenant_id, version, fenced) VALUES ('acme', 2, true)";
    assert.deepEqual(await placesToldAfter(directory, shard), [null, unknown("acme")]);
    // It may lack rows: it is not opened, though the fence of a move away has these marks too.
    const copying = `${shard}; UPDATE postern.shard_tenants SET moving = true`;
    assert.deepEqual(await placesToldAfter(directory, copying), [null, unknown("acme")]);
    // One that has switched, and is about to let the tenant in; or one that is to take it away again.
    const moving =
      "INSERT INTO postern.tenant_moves (tenant_id, source, target) VALUES ('acme', 'eu1', 'eu2')";
    assert.deepEqual(await placesToldAfter(`${directory}; ${moving}`, shard), [null, null]);
  });

  for (const [what, home, marks, told] of [
    [
      "as gone, where the directory is older than their move away",
      "'eu2', 1",
      "2, true, false",
      "fail: acme moved on by the shard's own rows, and not by the directory: the directory was restored from a backup older than that",
    ],
    [
      "as gone too, where they had been moved here before",
      "'eu2', 2",
      "3, true, false",
      "fail: acme moved on by the shard's own rows, and not by the directory: the directory was restored from a backup older than that",
    ],
    [
      "as held, where the shard was restored to a moment within a move that was undone",
      "'eu2', 1",
      "1, false, true",
      "fail: deliveries of acme, and perhaps publishing, wait for a move that is over: the shard was restored from a backup made within it",
    ],
    [
      "as held too, where that was a moment behind its fence",
      "'eu2', 1",
      "1, true, true",
      "fail: deliveries of acme, and perhaps publishing, wait for a move that is over: the shard was restored from a backup made within it",
    ],
    [
      "as gone, where they have the fence of a move that is over",
      "'eu2', 1",
      "1, true, false",
      "fail: acme moved on by the shard's own rows, and not by the directory: the directory was restored from a backup older than that",
    ],
    [
      "as rows that nobody asks for, where the shard was restored to a moment within a move that was undone",
      "'eu1', 1",
      "2, true, true",
      "warn: rows of acme are left of a move that is over, and nobody asks for them: the shard was restored from a backup made within it",
    ],
  ] as const) {
    it(`are found ${what}`, async () => {
      const directory = `INSERT INTO postern.shard_directory VALUES ('acme', ${home})`;
      const shard = `INSERT INTO postern.shard_tenants (tenant_id, version, fenced, moving) VALUES ('acme', ${marks})`;
      assert.deepEqual(await placesToldAfter(directory, shard), [null, told]);
      const [source, target] = home.startsWith("'eu2'") ? ["eu2", "eu1"] : ["eu1", "eu2"];
      const moving = `INSERT INTO postern.tenant_moves (tenant_id, source, target) VALUES ('acme', '${source}', '${target}')`;
      assert.deepEqual(await placesToldAfter(`${directory}; ${moving}`, shard), [null, null]);
    });
  }

  it("are found all, however many", async () => {
    const directory = `INSERT INTO postern.shard_directory ${many("'t' || n, 'eu2', 2")}`;
    const shard = "INSERT INTO postern.shard_tenants (tenant_id, version)";
    assert.deepEqual(await placesToldAfter(directory, ""), [null, unknown("t1000 and 2000 more tenants")]);
    assert.deepEqual(await placesToldAfter(directory, `${shard} ${many("'t' || n, 2")}`), [null, null]);
    const [, told] = await placesToldAfter("", `${shard} ${many("'t' || n, 1")}`);
    assert.match(
      told ?? "",
      /^fail: t1000 and 2000 more tenants by its own rows, and by the directory nowhere: /,
    );
  });

  for (const [what, directory, told] of [
    [
      "elsewhere",
      "('acme', 'eu1', 1), ('globex', 'eu2', 1)",
      "acme by its own rows, and by the directory in eu1",
    ],
    ["nowhere", "('globex', 'eu2', 1)", "acme by its own rows, and by the directory nowhere"],
    [
      "since another move",
      "('acme', 'eu2', 3), ('globex', 'eu2', 1)",
      "acme by its own rows, and by the directory in eu2, since another move",
    ],
    [
      "elsewhere, all",
      "('acme', 'eu1', 1), ('globex', 'eu1', 1)",
      "acme and 1 more tenant by its own rows, and by the directory in eu1",
    ],
  ] as const) {
    it(`are found where the directory has them ${what}`, async () => {
      assert.deepEqual(
        await placesToldAfter(
          `INSERT INTO postern.shard_directory VALUES ${directory}`,
          "INSERT INTO postern.shard_tenants (tenant_id, version) VALUES ('acme', 2), ('globex', 1)",
        ),
        [null, `fail: ${told}: a database was restored from a backup older than a move, or than the tenant`],
      );
    });
  }
});

describe("what is told of shards", () => {
  // A backup has a move's row, and neither its publications nor its subscription.
  it("is who is being moved, also where no database has anything of the copy", async () => {
    assert.equal((await examine())("moves"), null);
    await databases[0]?.pool.query(
      "INSERT INTO postern.tenant_moves (tenant_id, source, target) VALUES ('acme', 'eu1', 'eu2')",
    );
    const told = await examine();
    assert.equal(told("moves"), "warn: acme is being moved from eu1 to eu2, or was left half-way");
    assert.equal(told("shard eu1: moves"), null);
  });

  it("is that they are one installation's, which of them keeps the directory, and what each has and lacks", async () => {
    await databases[1]?.pool.query(
      "INSERT INTO postern.storage_buckets (bucket, installation_id, trouble) VALUES ($1, gen_random_uuid(), 'lost')",
      [directoryBucketName("eu2")],
    );
    const told = await examine();
    await databases[1]?.pool.query("DELETE FROM postern.storage_buckets");
    assert.equal(told("shards"), "ok: 2 databases of one installation; eu1 keeps the directory");
    for (const name of NAMES) {
      assert.match(told(`shard ${name}: database`) ?? "", /^ok: /, name);
      // Nothing but a move of tenants needs it.
      assert.match(told(`shard ${name}: moving tenants`) ?? "", /^info: .*wal_level/, name);
    }
    assert.equal(told("shard eu1: owner mark"), null);
    assert.equal(told("shard eu2: owner mark"), "fail: lost");
  });

  it("is a clock that is some seconds before or behind this machine's", async () => {
    for (const [apartS, finding] of [
      [3, /^ok: that of this machine$/],
      [-3, /^ok: that of this machine$/],
      // Half of the time that the answer took is not known.
      [8, /^warn: [789] s ahead of that of this machine$/],
      [-8, /^warn: [789] s behind that of this machine$/],
    ] as const) {
      await clockIs(apartS);
      const told = await examine();
      assert.match(told("shard eu1: clock") ?? "", finding);
      assert.equal(told("shard eu2: clock"), "ok: that of this machine");
    }
  });

  it("is events that wait for another shard for more than a minute", async () => {
    await waitToBeHandedOver([40]);
    assert.equal((await examine())("shard eu1: hand-over"), null);
    await waitToBeHandedOver([80]);
    const told = await examine();
    assert.match(
      told("shard eu1: hand-over") ?? "",
      /^warn: 2 events for other shards wait, the oldest for \d{2,3} s$/,
    );
    assert.equal(told("shard eu2: hand-over"), null);
    await databases[0]?.pool.query(
      "DELETE FROM postern.handovers WHERE id > postern.lowest_id_at(now() - interval '1 min')",
    );
    assert.match((await examine())("shard eu1: hand-over") ?? "", /^warn: 1 event for another shard waits, /);
  });

  it("is that they were not compared while one has no schema", async () => {
    const empty = await createTestDatabase({ migrated: false });
    const told = await examine([databases[0]?.url ?? "", empty.url]);
    await empty.drop();
    assert.equal(told("shards"), "warn: not compared with each other yet");
    assert.match(told("shard eu2: schema") ?? "", /^warn: not applied yet/);
    assert.equal(told("shard eu1: clock"), "ok: that of this machine");
    assert.equal(told("shard eu2: clock"), null);
  });
});
