/** Moving a tenant between two shards that work. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { publishedObject } from "../src/api/schemas.ts";
import { runProgram, startTask, type Program } from "./support/program.ts";
import { OLDEST, SERVER } from "./support/postgres.ts";
import { eventually } from "./support/eventually.ts";
import { leftoversOf, prepareShardTests, producer, type ShardTests } from "./support/shard-programs.ts";
import { holdMoves, moveTenant, requireAll, rowsOf } from "./support/tenant-moves.ts";

let t: ShardTests;

before(async () => {
  t = await prepareShardTests({ movesTenants: true });
});
afterEach(() => t.end());
after(() => t.close());

/** What it tells of itself. The steps are the same on both servers, so on one of them one is enough. */
const KILLED_AT =
  process.env[SERVER.major] === OLDEST
    ? ["switching"]
    : ["copying what changed", "waiting for attempts", "switching", "lives in eu2"];

/** Publishes one event after the other, without taking the processor, until it is told to stop. Answers the ids that were accepted. */
function keepPublishing(program: Program, tid: string) {
  const accepted: string[] = [];
  const refused: number[] = [];
  const over = new AbortController();
  const work = (async () => {
    for (let n = 0; !over.signal.aborted; n++) {
      const json = { type: "invoice.paid", data: { n } };
      const answer = await program.call("POST", "/api/events", { as: producer(tid), json });
      if (answer.status === 202) accepted.push(publishedObject.parse(answer.body).id);
      else refused.push(answer.status);
      await setTimeout(25);
    }
  })();
  return {
    accepted,
    async stop(): Promise<{ accepted: string[]; refused: number[] }> {
      over.abort();
      await work;
      return { accepted, refused };
    },
  };
}

const leftovers = (shard: string) => leftoversOf(t, shard);

async function homeOf(tid: string) {
  const [row] = await t.rows(
    "eu1",
    "SELECT shard, version FROM postern.shard_directory WHERE tenant_id = $1",
    [tid],
  );
  return row;
}

describe("postern tenants move", () => {
  it("moves a tenant that publishes and is sent to, and loses nothing", async () => {
    const program = await t.begin();
    const { one, other } = await t.twoEndpoints(program);
    const mine = keepPublishing(program, one.tid);
    const others = keepPublishing(program, other.tid);
    await eventually(async () => mine.accepted.length > 20 && others.accepted.length > 20);
    const { code, output, errors } = await moveTenant(t, one.tid, "--to", "eu2");
    assert.equal(code, 0, errors);
    assert.match(output, new RegExp(`${one.tid} has moved from eu1 to eu2`));
    const before = mine.accepted.length;
    await eventually(async () => mine.accepted.length > before + 5);
    const { accepted } = await mine.stop();
    const { accepted: acceptedOfOther, refused } = await others.stop();
    assert.deepEqual(refused, []);
    await requireAll(t, program, one, accepted);
    await requireAll(t, program, other, acceptedOfOther);
    assert.deepEqual(await homeOf(one.tid), { shard: "eu2", version: 2 });
    assert.deepEqual(await rowsOf(t, "eu1", one.tid), []);
    for (const shard of ["eu1", "eu2"]) assert.deepEqual(await leftovers(shard), [0, 0, 0], shard);
    assert.deepEqual(await t.rows("eu1", "SELECT * FROM postern.tenant_moves"), []);
  });

  for (const step of KILLED_AT) {
    it(`goes on where it was killed: at "${step}"`, async () => {
      const program = await t.begin();
      const { one } = await t.twoEndpoints(program);
      const mine = keepPublishing(program, one.tid);
      await eventually(async () => mine.accepted.length > 20);
      const killed = startTask(["tenants", "move", one.tid, "--to", "eu2"], t.settings());
      await eventually(async () => killed.output().includes(step));
      await killed.end("SIGKILL");
      const { code, errors } = await eventually(async () => {
        const ended = await moveTenant(t, one.tid, "--to", "eu2");
        // The server may take a moment to notice that the killed one is gone.
        return !ended.errors.includes("Another command") && ended;
      });
      // On a busy machine it may have come to its end before it was killed.
      assert.ok(code === 0 || errors.includes("lives in eu2 already"), errors);
      const before = mine.accepted.length;
      await eventually(async () => mine.accepted.length > before + 5);
      const { accepted } = await mine.stop();
      await requireAll(t, program, one, accepted);
      assert.deepEqual(await homeOf(one.tid), { shard: "eu2", version: 2 });
      assert.deepEqual(await rowsOf(t, "eu1", one.tid), []);
      for (const shard of ["eu1", "eu2"]) assert.deepEqual(await leftovers(shard), [0, 0, 0], shard);
    });
  }

  it("undoes a move that was killed before its switch, and moves there and back", async () => {
    const program = await t.begin();
    const { one, other } = await t.twoEndpoints(program);
    const mine = keepPublishing(program, one.tid);
    await eventually(async () => mine.accepted.length > 20);
    const letGo = await holdMoves(t);
    const killed = startTask(["tenants", "move", one.tid, "--to", "eu2"], t.settings());
    await eventually(async () => killed.output().includes("waiting for attempts"));
    await killed.end("SIGKILL");
    const url = `--url=${program.url}`;
    const shown = await runProgram(["tenants", "show", "--tenant", one.tid, url], t.settings());
    assert.match(
      shown.output,
      /lives in eu1, version 1\nbeing moved from eu1 to eu2 since \S+Z: waiting for attempts in flight/,
    );
    // As a command leaves it that is killed behind the fence, where the API has no answer for the tenant.
    await t.rows("eu1", "UPDATE postern.shard_tenants SET fenced = true WHERE tenant_id = $1", [one.tid]);
    const fenced = await runProgram(["tenants", "show", "--tenant", one.tid, url], t.settings());
    assert.equal(fenced.code, 1);
    assert.match(
      fenced.output,
      /lives in eu1, version 1\nbeing moved from eu1 to eu2 since \S+Z: switching\n\{"error":"Service unavailable"\}/,
    );
    const asJson = await runProgram(["tenants", "show", "--json", "--tenant", one.tid, url], t.settings());
    assert.deepEqual([asJson.code, asJson.output], [1, '{"error":"Service unavailable"}\n']);
    const { output: listed } = await runProgram(["tenants", "list", url], t.settings());
    assert.deepEqual(
      listed.match(/^\S+ {2}eu[12] /gm),
      [`${one.tid}  eu1 `, `${other.tid}  eu2 `].toSorted(),
      listed,
    );
    await letGo();
    const doctor = await runProgram(["doctor"], t.settings());
    assert.match(doctor.output, /^ok {4}shard eu1: moving tenants: possible/m);
    assert.match(doctor.output, /shard eu1: moves: .*publication postern_move_.*slot postern_move_/);
    assert.match(doctor.output, /shard eu2: moves: .*subscription postern_move_/);
    const undone = await eventually(async () => {
      const ended = await moveTenant(t, one.tid, "--undo");
      return !ended.errors.includes("Another command") && ended;
    });
    assert.equal(undone.code, 0, undone.errors);
    assert.deepEqual(await rowsOf(t, "eu2", one.tid), []);
    for (const shard of ["eu1", "eu2"]) assert.deepEqual(await leftovers(shard), [0, 0, 0], shard);
    assert.deepEqual(await homeOf(one.tid), { shard: "eu1", version: 1 });
    assert.equal((await moveTenant(t, one.tid, "--to", "eu2")).code, 0);
    assert.equal((await moveTenant(t, one.tid, "--to", "eu1")).code, 0);
    const { accepted } = await mine.stop();
    await requireAll(t, program, one, accepted);
    assert.deepEqual(await homeOf(one.tid), { shard: "eu1", version: 3 });
    assert.deepEqual(await rowsOf(t, "eu2", one.tid), []);
  });
});
