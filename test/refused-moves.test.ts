/** What a move is refused for, before anything is copied. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { BROUGHT } from "../src/shards/move-tables.ts";
import { publish } from "./support/api.ts";
import {
  delivered,
  leftoversOf,
  prepareShardTests,
  producer,
  publishArray,
  type ShardTests,
} from "./support/shard-programs.ts";
import { runProgram } from "./support/program.ts";
import { runHere } from "./support/command.ts";
import { lastingRowsOf, moveTenant } from "./support/tenant-moves.ts";

let t: ShardTests;
before(async () => {
  t = await prepareShardTests({ movesTenants: true });
});
afterEach(() => t.end());
after(() => t.close());

const move = (...words: string[]) => moveTenant(t, ...words);
const leftovers = (shard: string) => leftoversOf(t, shard);

describe("postern tenants move", () => {
  it("says why it moves nobody, before anything is copied", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    const refused: [words: string[], reason: RegExp][] = [
      [["nobody", "--to", "eu2"], /The directory does not know nobody/],
      [[one.tid, "--to", "eu9"], /There is no shard eu9/],
      [[one.tid, "--to", "eu1"], /lives in eu1 already/],
      [[one.tid], /--to is missing/],
      [[one.tid, "--undo"], /is not being moved/],
      [[one.tid, "--undo", "--dry-run"], /--undo has no --dry-run/],
      [["no tenant!", "--to", "eu2"], /is no tenant id/],
    ];
    for (const [words, reason] of refused) {
      const { code, errors } = await move(...words);
      assert.equal(code, 1, errors);
      assert.match(errors, reason);
    }
    for (const name of ["MOVE_FROM_URL", "MOVE_TO_URL"]) {
      const env = { ...t.settings(), [name]: "postgres://postgres@127.0.0.1/postern?ssl_mode=require" };
      const { code, errors } = await runProgram(["tenants", "move", one.tid, "--to", "eu2"], env);
      assert.equal(code, 1, errors);
      assert.match(errors, new RegExp(`${name} has a misspelled parameter: did you mean sslmode\\?`));
    }
    await publishArray(program, Array<string>(10).fill(one.tid));
    await delivered(program, one, 10);
    // Then nothing writes rows between the two counts, and nothing erases.
    await program.end("SIGKILL");
    const counts = await t.rows("eu1", "SELECT name, count FROM postern.count_tenant_rows($1, 1000)", [
      one.tid,
    ]);
    const brought: readonly string[] = BROUGHT;
    const toCopy = counts.filter(({ name }) => brought.includes(String(name)));
    const rows = toCopy.reduce((total, { count }) => total + Number(count), 0);
    const dry = await move(one.tid, "--to", "eu2", "--dry-run");
    assert.equal(dry.code, 0, dry.errors);
    assert.match(dry.output, /can be moved from eu1 to eu2\./);
    assert.match(dry.output, new RegExp(`has ${rows} rows to copy, less than 1 MB without indexes`));
    await t.rows(
      "eu1",
      `UPDATE postern.deliveries SET response_body = (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 60000) AS n)
        WHERE tenant_id = $1 AND id = (SELECT id FROM postern.deliveries WHERE tenant_id = $1 LIMIT 1)`,
      [one.tid],
    );
    const limit =
      /have a statement_timeout of 120000 ms, .*\n.* (ALTER ROLE \S+ IN DATABASE \S+ SET statement_timeout = 0;)/;
    assert.doesNotMatch(dry.output, limit);
    await t.rows(
      "eu1",
      `DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET statement_timeout = ''2min''', current_database()); END $$`,
    );
    const larger = await runHere(["tenants", "move", one.tid, "--to", "eu2", "--dry-run"], t.settings());
    assert.match(larger.printed, new RegExp(`has ${rows} rows to copy, 2 MB without indexes`));
    await t.rows("eu1", limit.exec(larger.printed)?.[1] ?? "");
    const lifted = await runHere(["tenants", "move", one.tid, "--to", "eu2", "--dry-run"], t.settings());
    assert.doesNotMatch(lifted.printed, limit);
    await t.rows("eu1", "INSERT INTO postern.tenant_erasures (tenant_id) VALUES ($1)", [one.tid]);
    assert.match((await move(one.tid, "--to", "eu2")).errors, /is being erased/);
    assert.deepEqual(await leftovers("eu1"), [0, 0, 0]);
  });

  it("moves nobody into a shard that is older, or cannot be reached, and begins nothing", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    const nothingBegan = async () => {
      assert.deepEqual(await t.rows("eu1", "SELECT * FROM postern.tenant_moves"), []);
      for (const shard of ["eu1", "eu2"]) assert.deepEqual(await leftovers(shard), [0, 0, 0], shard);
    };
    const newer =
      "INSERT INTO postern.schema_migrations VALUES (9999, 'of_a_newer_release', repeat('a', 64))";
    await t.rows("eu1", newer);
    for (const words of [["--dry-run"], []]) {
      const { code, errors } = await move(one.tid, "--to", "eu2", ...words);
      assert.equal(code, 1, errors);
      assert.match(errors, /eu1 is at 9999, and eu2 is behind\.\s+Run `postern migrate`/);
    }
    await nothingBegan();
    await t.rows("eu1", "DELETE FROM postern.schema_migrations WHERE version = 9999");
    await t.shards().proxy("eu2").close();
    const { code, errors } = await move(one.tid, "--to", "eu2");
    assert.equal(code, 1, errors);
    assert.match(errors, /The shard eu2 cannot be reached/);
    await nothingBegan();
    await publish(program, "invoice.paid", { as: producer(one.tid) });
    await delivered(program, one);
  });

  it("touches no rows of the target where the directory was restored to a moment within the move", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    const moved = await move(one.tid, "--to", "eu2");
    assert.equal(moved.code, 0, moved.errors);
    await publishArray(program, [one.tid, one.tid]);
    await delivered(program, one, 2);
    await program.end("SIGKILL");
    await t.rows(
      "eu1",
      `WITH home AS (UPDATE postern.shard_directory SET shard = 'eu1', version = 1 WHERE tenant_id = $1)
        INSERT INTO postern.tenant_moves (tenant_id, source, target) VALUES ($1, 'eu1', 'eu2')`,
      [one.tid],
    );
    const marks = () => t.rows("eu2", "SELECT * FROM postern.shard_tenants WHERE tenant_id = $1", [one.tid]);
    const before = [await lastingRowsOf(t, "eu2", one.tid), await marks()];
    for (const words of [["--undo"], ["--to", "eu2"], ["--to", "eu2", "--dry-run"]]) {
      const { code, errors } = await move(one.tid, ...words);
      assert.equal(code, 1, errors);
      assert.match(
        errors,
        new RegExp(`${one.tid} lives in eu2 by its own rows.*\\n.*restore a later backup of eu1 `),
      );
      assert.deepEqual([await lastingRowsOf(t, "eu2", one.tid), await marks()], before);
    }
    assert.deepEqual(await leftovers("eu1"), [0, 0, 0]);
  });
});
