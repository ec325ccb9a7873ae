/** Shards that were restored from a backup made within the move of a tenant, or before it: the only rows are never deleted. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { BROUGHT } from "../src/shards/move-tables.ts";
import { publish } from "./support/api.ts";
import { runProgram, startTask } from "./support/program.ts";
import {
  delivered,
  leftoversOf,
  prepareShardTests,
  producer,
  publishArray,
  type ShardTests,
} from "./support/shard-programs.ts";
import { eventually } from "./support/eventually.ts";
import { holdMoves, lastingRowsOf, moveTenant, rowsOf } from "./support/tenant-moves.ts";

let t: ShardTests;
before(async () => {
  t = await prepareShardTests({ movesTenants: true });
});
afterEach(() => t.end());
after(() => t.close());

const move = (...words: string[]) => moveTenant(t, ...words);

async function doctor(): Promise<string> {
  return (await runProgram(["doctor"], t.settings())).printed;
}

/** A tenant of this shard, with two deliveries in its log. */
async function tenantIn(shard: "eu1" | "eu2") {
  const program = await t.begin();
  const { one, other } = await t.twoEndpoints(program);
  const tenant = shard === "eu1" ? one : other;
  await publishArray(program, [tenant.tid, tenant.tid]);
  await delivered(program, tenant, 2);
  return { program, ...tenant };
}

/** The move is killed as it begins to delete what is left in the source. */
async function leaveSwitched(tid: string, source: string, target: string): Promise<void> {
  await t.rows(
    source,
    `CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF OLD.tenant_id = '${tid}' THEN RAISE 'not now'; END IF; RETURN OLD; END $$;
    ${BROUGHT.map(
      (table) =>
        `CREATE TRIGGER refuse BEFORE DELETE ON postern.${table} FOR EACH ROW EXECUTE FUNCTION public.refuse();`,
    ).join("\n")}`,
  );
  assert.match((await move(tid, "--to", target)).errors, /not now/);
  await t.rows(source, "DROP FUNCTION public.refuse() CASCADE");
}

const marksOf = (shard: string, tid: string) =>
  t.rows(shard, "SELECT * FROM postern.shard_tenants WHERE tenant_id = $1", [tid]);

/** Neither shard nor the directory is changed by these. */
async function requireRefused(tid: string, commands: string[][], reason: RegExp): Promise<void> {
  const all = async () => [
    await t.rows("eu1", "SELECT * FROM postern.tenant_moves"),
    ...(await Promise.all(
      ["eu1", "eu2"].flatMap((shard) => [
        lastingRowsOf(t, shard, tid),
        marksOf(shard, tid),
        leftoversOf(t, shard),
      ]),
    )),
  ];
  const before = await all();
  for (const words of commands) {
    const { code, errors } = await move(tid, ...words);
    assert.equal(code, 1, errors);
    assert.match(errors, reason);
    assert.deepEqual(await all(), before, words.join(" "));
  }
}

const deleteRows = (shard: string, tid: string, tables: readonly string[]) =>
  t.rows(
    shard,
    `WITH ${tables.map((table) => `${table} AS (DELETE FROM postern.${table} WHERE tenant_id = $1)`).join(", ")} SELECT`,
    [tid],
  );

describe("a move that has switched, and whose target was restored from a backup", () => {
  for (const [when, isWithin] of [
    ["older than the move", false],
    ["made within its copying", true],
  ] as const) {
    it(`deletes nothing in the source where that is ${when}`, async () => {
      const { tid, program } = await tenantIn("eu1");
      await leaveSwitched(tid, "eu1", "eu2");
      await program.end("SIGKILL");
      if (isWithin) {
        await deleteRows("eu2", tid, ["deliveries"]);
        await t.rows(
          "eu2",
          "UPDATE postern.shard_tenants SET fenced = true, moving = true WHERE tenant_id = $1",
          [tid],
        );
      } else {
        await deleteRows("eu2", tid, [...BROUGHT, "shard_tenants"]);
      }
      const lacking = new RegExp(
        `${tid} lives in eu2 by the directory, and eu2 lacks what the move brought: .*\\n.* restore a later backup of eu2 `,
      );
      await requireRefused(tid, [["--to", "eu2"], []], lacking);
      const told = await doctor();
      assert.match(
        told,
        new RegExp(`^fail {2}moves: ${tid} lives in eu2 by the directory, and eu2 lacks`, "m"),
      );
      assert.match(told, /→ .*restore a later backup of eu2/);
      // As no command has opened the target, in whose dump are all rows or some.
      if (!isWithin) return;
      await t.rows("eu1", "UPDATE postern.shard_tenants SET version = 1 WHERE tenant_id = $1", [tid]);
      assert.doesNotMatch(await doctor(), /^fail/m);
      await requireRefused(tid, [["--to", "eu2"]], lacking);
    });
  }
});

describe("a move to the shard that keeps the directory", () => {
  it("is neither undone nor gone on with where that shard was restored from a backup made within it", async () => {
    const { tid, program } = await tenantIn("eu2");
    assert.equal((await move(tid, "--to", "eu1")).code, 0);
    await program.end("SIGKILL");
    await t.rows(
      "eu1",
      `WITH home AS (UPDATE postern.shard_directory SET shard = 'eu2', version = 1 WHERE tenant_id = $1),
          marks AS (UPDATE postern.shard_tenants SET fenced = true, moving = true WHERE tenant_id = $1)
        INSERT INTO postern.tenant_moves (tenant_id, source, target) VALUES ($1, 'eu2', 'eu1')`,
      [tid],
    );
    const left = new RegExp(`${tid} has left eu2 by its own rows.*\\n.* restore a later backup of eu1 `);
    await requireRefused(tid, [["--undo"], ["--to", "eu1"]], left);
    assert.match(await doctor(), new RegExp(`^fail {2}moves: ${tid} has left eu2 by its own rows`, "m"));

    // Older than the move.
    await t.rows("eu1", "DELETE FROM postern.tenant_moves");
    await deleteRows("eu1", tid, [...BROUGHT, "shard_tenants"]);
    await requireRefused(
      tid,
      [
        ["--to", "eu1"],
        ["--to", "eu1", "--dry-run"],
      ],
      left,
    );
    await requireRefused(
      tid,
      [["--undo"]],
      new RegExp(`${tid} lives in eu2 by the directory alone.*\\n.* restore a later backup of eu1 `),
    );
    assert.match(
      await doctor(),
      new RegExp(`^fail {2}shard eu2: tenants: ${tid} moved on by the shard's own rows`, "m"),
    );
  });
});

describe("a move that is over, and that a restored backup has brought back", () => {
  for (const isFenced of [false, true])
    it(`is ended by --undo in the tenant's own shard, whose deliveries${isFenced ? " and callers" : ""} waited for it`, async () => {
      const { tid, id, program } = await tenantIn("eu2");
      const [before = {}] = await marksOf("eu2", tid);
      await t.rows(
        "eu2",
        "UPDATE postern.shard_tenants SET moving = true, fenced = $2 WHERE tenant_id = $1",
        [tid, isFenced],
      );
      await t.rows("eu2", "UPDATE postern.endpoints SET moving = true WHERE tenant_id = $1", [tid]);
      if (!isFenced) await publish(program, "invoice.paid", { as: producer(tid) });
      const told = await doctor();
      assert.match(
        told,
        new RegExp(
          `^fail {2}shard eu2: tenants: deliveries of ${tid}, and perhaps publishing, wait for a move`,
          "m",
        ),
      );
      assert.match(told, new RegExp(`→ run \`postern tenants move ${tid} --undo\``));
      const { code, printed, errors } = await move(tid, "--undo");
      assert.equal(code, 0, errors);
      assert.match(
        printed,
        new RegExp(`${tid} lives in eu2. What a restore had brought back of a move is ended in eu2: `),
      );
      if (isFenced) await publish(program, "invoice.paid", { as: producer(tid) });
      await delivered(program, { tid, id }, 3);
      assert.deepEqual(await marksOf("eu2", tid), [before]);
      assert.doesNotMatch(await doctor(), /^(fail|warn).*tenants:/m);
      assert.match((await move(tid, "--undo")).errors, /is not being moved/);
    });

  it("is ended by --undo in another shard, where its copy is deleted", async () => {
    const { tid, id, program } = await tenantIn("eu1");
    const letGo = await holdMoves(t);
    const moving = startTask(["tenants", "move", tid, "--to", "eu2"], t.settings());
    await eventually(async () => moving.output().includes("waiting for attempts"));
    await moving.end("SIGKILL");
    const [copied] = await marksOf("eu2", tid);
    assert.ok(copied !== undefined);
    // A dump has all but the subscription.
    await t.rows(
      "eu2",
      "CREATE TABLE public.endpoints AS SELECT * FROM postern.endpoints WHERE tenant_id = $1",
      [tid],
    );
    await letGo();
    assert.equal((await move(tid, "--undo")).code, 0);
    assert.deepEqual(await rowsOf(t, "eu2", tid), []);
    await t.rows("eu2", "INSERT INTO postern.endpoints SELECT * FROM public.endpoints");
    await t.rows(
      "eu2",
      `INSERT INTO postern.shard_tenants (tenant_id, version, fenced, moving) VALUES ($1, 2, true, true)`,
      [tid],
    );
    const told = await doctor();
    assert.match(
      told,
      new RegExp(`^warn {2}shard eu2: tenants: rows of ${tid} are left of a move that is over`, "m"),
    );
    assert.match((await move(tid, "--to", "eu2")).errors, /eu2 has rows of .* already \(endpoints\)/);
    const rows = await lastingRowsOf(t, "eu1", tid);
    const { code, errors } = await move(tid, "--undo");
    assert.equal(code, 0, errors);
    assert.deepEqual([await rowsOf(t, "eu2", tid), await lastingRowsOf(t, "eu1", tid)], [[], rows]);
    assert.doesNotMatch(await doctor(), /^(fail|warn).*tenants:/m);
    assert.equal((await move(tid, "--to", "eu2")).code, 0);
    await publish(program, "invoice.paid", { as: producer(tid) });
    await delivered(program, { tid, id }, 3);
  });
});
