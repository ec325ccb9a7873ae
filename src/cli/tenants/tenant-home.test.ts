import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { joinedShards } from "../../../test/support/joined-shards.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { describeHome, readHome } from "./tenant-home.ts";

const NAMES = ["eu1", "eu2"];
const acme = tenant("acme");

const of = joinedShards(NAMES);

beforeEach(async () => {
  for (const name of NAMES) {
    await run(name, "TRUNCATE postern.shard_directory, postern.tenant_moves, postern.shard_tenants");
  }
});

async function run(name: string, sql: string): Promise<void> {
  await of(name).pool.query(sql);
}

async function told(): Promise<string[]> {
  const shards = NAMES.map((name) => ({ name, url: of(name).url, weight: 1 }));
  const home = await readHome(shards, acme);
  return home === null ? [] : describeHome(home).split("\n");
}

describe("a tenant's home", () => {
  it("is nowhere before the tenant is placed, and then its shard", async () => {
    assert.deepEqual(await told(), []);
    await run("eu1", "INSERT INTO postern.shard_directory VALUES ('acme', 'eu2', 3), ('globex', 'eu1', 1)");
    assert.deepEqual(await told(), ["lives in eu2, version 3"]);
  });

  it("is told with each step of a move from it, as the shard that the tenant leaves has it", async () => {
    const move = "being moved from eu2 to eu1 since 2026-01-31T12:00:00.000Z: ";
    await run(
      "eu1",
      `INSERT INTO postern.shard_directory VALUES ('acme', 'eu2', 1);
        INSERT INTO postern.tenant_moves (tenant_id, source, target, started_at) VALUES ('acme', 'eu2', 'eu1', '2026-01-31 12:00Z')`,
    );
    assert.deepEqual(await told(), ["lives in eu2, version 1", `${move}copying`]);
    await run(
      "eu2",
      "INSERT INTO postern.shard_tenants (tenant_id, version) VALUES ('acme', 1), ('globex', 1)",
    );
    assert.deepEqual(await told(), ["lives in eu2, version 1", `${move}copying`]);
    for (const [marks, step] of [
      ["moving = true", "waiting for attempts in flight"],
      ["fenced = true", "switching"],
    ]) {
      await run("eu2", `UPDATE postern.shard_tenants SET ${marks} WHERE tenant_id = 'acme'`);
      assert.deepEqual(await told(), ["lives in eu2, version 1", `${move}${step}`]);
    }
    await run("eu1", "UPDATE postern.tenant_moves SET switched = true");
    await run("eu1", "UPDATE postern.shard_directory SET shard = 'eu1', version = 2");
    assert.deepEqual(await told(), ["lives in eu1, version 2", `${move}deleting its rows in eu2`]);
  });
});
