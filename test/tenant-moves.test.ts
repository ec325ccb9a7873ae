/** Moving a tenant between two shards that work. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { publishedObject } from "../src/api/schemas.ts";
import { createEndpoint, publish, wholeLog } from "./support/api.ts";
import { runProgram, startTask, type Program } from "./support/program.ts";
import { replaysOf } from "./support/replays.ts";
import { OLDEST, SERVER } from "./support/postgres.ts";
import { eventually } from "./support/service.ts";
import {
  BACKEND,
  delivered,
  leftoversOf,
  publishArray,
  newPortalCode,
  ok,
  openPortal,
  owner,
  prepareShardTests,
  producer,
  usePortal,
  type ShardTests,
} from "./support/shard-programs.ts";

let t: ShardTests;

before(async () => {
  t = await prepareShardTests({ movesTenants: true });
});
afterEach(() => t.end());
after(() => t.close());

const move = (...words: string[]) => runProgram(["tenants", "move", ...words], t.settings());
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

/** Each accepted event reached the receiver once, and its attempt is in the log. */
async function requireAll(program: Program, { tid, id }: { tid: string; id: string }, accepted: string[]) {
  await eventually(async () => t.sentTo(tid) >= accepted.length);
  const seen = t.receiver.requests
    .filter(({ path }) => path.endsWith(`/${tid}`))
    .map(({ headers }) => String(headers["webhook-id"]));
  assert.deepEqual(seen.toSorted(), accepted.toSorted());
  const logged = await eventually(async () => {
    const log = await wholeLogOf(program, { tid, id });
    return log.length >= accepted.length && log.every(({ status }) => status === "delivered") && log;
  });
  assert.deepEqual(logged.map(({ event_id: event }) => String(event)).toSorted(), accepted.toSorted());
}

async function wholeLogOf(program: Program, { tid, id }: { tid: string; id: string }) {
  return wholeLog(
    { call: (method, path, options) => program.call(method, path, { ...options, as: owner(tid) }) },
    id,
  );
}

/** An open transaction in eu1: a move waits for its end before it holds anything. */
async function holdMoves(): Promise<() => Promise<void>> {
  const client = await t.shards().database("eu1").pool.connect();
  await client.query("BEGIN");
  return async () => {
    await client.query("ROLLBACK");
    client.release();
  };
}

/** By postern.publish. */
async function untilTypesAreKnown(): Promise<void> {
  for (const shard of ["eu1", "eu2"]) {
    await eventually(async () => {
      const known = await t.rows(shard, "SELECT FROM postern.event_types WHERE type = 'invoice.paid'");
      return known.length === 1;
    });
  }
}

/** A test that lost its process, an endpoint that has failed for hours, and an event that was given up there. */
async function makeDue(shard: string, { tid, id }: { tid: string; id: string }): Promise<void> {
  await t.rows(
    shard,
    `WITH send AS (
        INSERT INTO postern.person_sends (tenant_id, endpoint_id, id, test_id, event_type, trigger, attempt, request_headers)
        VALUES ($1, $2, postern.lowest_id_at(now() - interval '1 hour'), gen_random_uuid(), 'test', 'test', 1, '{}')
      ), exhausted AS (
        INSERT INTO postern.exhausted_events
        VALUES ($1, $2, 1, gen_random_uuid(), gen_random_uuid(), 'invoice.paid')
      )
      UPDATE postern.endpoints SET failing_since = now() - interval '2 hours' WHERE tenant_id = $1`,
    [tid, id],
  );
}

/** What workers have not done of that: sends, and endpoints that are not told of. */
async function undoneOf(shard: string, tid: string): Promise<number[]> {
  const [row] = await t.rows(
    shard,
    `SELECT (SELECT count(*) FROM postern.person_sends WHERE tenant_id = $1) AS sends,
      count(*) FILTER (WHERE failing_told_at IS NULL) AS failing,
      count(*) FILTER (WHERE exhausted_told_at IS NULL) AS exhausted
      FROM postern.endpoints WHERE tenant_id = $1`,
    [tid],
  );
  return Object.values(row ?? {}).map(Number);
}

/** The workers of a shard change nothing of that, until what is answered was called. */
async function keepWorkersFrom(shard: string): Promise<() => Promise<void>> {
  await t.rows(
    shard,
    `CREATE FUNCTION public.keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
      CREATE TRIGGER keep BEFORE DELETE ON postern.person_sends FOR EACH ROW EXECUTE FUNCTION public.keep();
      CREATE TRIGGER keep BEFORE UPDATE OF failing_told_at, exhausted_told_at ON postern.endpoints
        FOR EACH ROW EXECUTE FUNCTION public.keep()`,
  );
  return async () => void (await t.rows(shard, "DROP FUNCTION public.keep() CASCADE"));
}

/** Rows of the tenant in a shard, of all tables. */
async function rowsOf(shard: string, tid: string) {
  return t.rows(shard, "SELECT name, count FROM postern.count_tenant_rows($1, 100000)", [tid]);
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
    const { code, output, errors } = await move(one.tid, "--to", "eu2");
    assert.equal(code, 0, errors);
    assert.match(output, new RegExp(`${one.tid} has moved from eu1 to eu2`));
    const before = mine.accepted.length;
    await eventually(async () => mine.accepted.length > before + 5);
    const { accepted } = await mine.stop();
    const { accepted: acceptedOfOther, refused } = await others.stop();
    assert.deepEqual(refused, []);
    await requireAll(program, one, accepted);
    await requireAll(program, other, acceptedOfOther);
    assert.deepEqual(await homeOf(one.tid), { shard: "eu2", version: 2 });
    assert.deepEqual(await rowsOf("eu1", one.tid), []);
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
        const ended = await move(one.tid, "--to", "eu2");
        // The server may take a moment to notice that the killed one is gone.
        return !ended.errors.includes("Another command") && ended;
      });
      // On a busy machine it may have come to its end before it was killed.
      assert.ok(code === 0 || errors.includes("lives in eu2 already"), errors);
      const before = mine.accepted.length;
      await eventually(async () => mine.accepted.length > before + 5);
      const { accepted } = await mine.stop();
      await requireAll(program, one, accepted);
      assert.deepEqual(await homeOf(one.tid), { shard: "eu2", version: 2 });
      assert.deepEqual(await rowsOf("eu1", one.tid), []);
      for (const shard of ["eu1", "eu2"]) assert.deepEqual(await leftovers(shard), [0, 0, 0], shard);
    });
  }

  it("undoes a move that was killed before its switch, and moves there and back", async () => {
    const program = await t.begin();
    const { one, other } = await t.twoEndpoints(program);
    const mine = keepPublishing(program, one.tid);
    await eventually(async () => mine.accepted.length > 20);
    const letGo = await holdMoves();
    const killed = startTask(["tenants", "move", one.tid, "--to", "eu2"], t.settings());
    await eventually(async () => killed.output().includes("waiting for attempts"));
    await killed.end("SIGKILL");
    const url = `--url=${program.url}`;
    const shown = await runProgram(["tenants", "show", "--tenant", one.tid, url], t.settings());
    assert.match(
      shown.output,
      /lives in eu1, version 1\nbeing moved from eu1 to eu2 since \S+Z: waiting for attempts in flight/,
    );
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
      const ended = await move(one.tid, "--undo");
      return !ended.errors.includes("Another command") && ended;
    });
    assert.equal(undone.code, 0, undone.errors);
    assert.deepEqual(await rowsOf("eu2", one.tid), []);
    for (const shard of ["eu1", "eu2"]) assert.deepEqual(await leftovers(shard), [0, 0, 0], shard);
    assert.deepEqual(await homeOf(one.tid), { shard: "eu1", version: 1 });
    assert.equal((await move(one.tid, "--to", "eu2")).code, 0);
    assert.equal((await move(one.tid, "--to", "eu1")).code, 0);
    const { accepted } = await mine.stop();
    await requireAll(program, one, accepted);
    assert.deepEqual(await homeOf(one.tid), { shard: "eu1", version: 3 });
    assert.deepEqual(await rowsOf("eu2", one.tid), []);
  });

  it("holds an endpoint that is made meanwhile, and is noticed by processes that knew the tenant", async () => {
    const program = await t.begin();
    const knowing = await t.start("api");
    const tid = t.shards().newTenant("eu1");
    await ok(knowing.call("GET", "/api/webhooks", { as: owner(tid) }), 200);
    const letGo = await holdMoves();
    const moving = startTask(["tenants", "move", tid, "--to", "eu2"], t.settings());
    await eventually(async () => moving.output().includes("waiting for attempts"));
    const url = `${t.receiver.url}/${tid}`;
    const { id } = (await createEndpoint(program, { url }, { as: owner(tid) })).endpoint;
    const event = await publish(program, "invoice.paid", { as: producer(tid) });
    assert.deepEqual(await t.rows("eu1", "SELECT held FROM postern.dispatches WHERE tenant_id = $1", [tid]), [
      { held: true },
    ]);
    await letGo();
    await eventually(async () => moving.output().includes(`${tid} has moved`));
    const { body } = await ok(knowing.call("GET", `/api/tenants/${tid}`, { as: BACKEND }), 200);
    assert.equal(z.object({ tenant: z.object({ shard: z.string() }) }).parse(body).tenant.shard, "eu2");
    await requireAll(program, { tid, id }, [event.id]);
  });

  it("sends once what postern.publish takes in either shard, and each event of a replay", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    const replayed = (await publishArray(program, Array<string>(40).fill(one.tid))).map(({ id }) => id);
    await delivered(program, one, replayed.length);
    const to = new Date().toISOString();
    await untilTypesAreKnown();
    const published: string[] = [];
    const publishInBoth = async (when: string) => {
      for (const shard of ["eu1", "eu2"]) {
        const sql = `SELECT postern.publish($1, 'invoice.paid', '{}') AS id`;
        const [row] = await t.rows(shard, sql, [one.tid]);
        assert.ok(row !== undefined, when);
        published.push(String(row["id"]));
      }
    };
    await publishInBoth("before the move");
    const letGo = await holdMoves();
    const moving = startTask(["tenants", "move", one.tid, "--to", "eu2"], t.settings());
    await eventually(async () => moving.output().includes("waiting for attempts"));
    await publishInBoth("during the copy");
    const json = { endpoint_id: one.id, to, select: "all" };
    const replays = replaysOf(program, owner(one.tid));
    const { id } = await replays.create(json);
    await letGo();
    await eventually(async () => moving.output().includes("switching"));
    await publishInBoth("around the switch");
    await eventually(async () => moving.output().includes(`${one.tid} has moved`));
    await publishInBoth("after it");
    assert.equal((await replays.waitForEnd(id)).status, "finished");
    const ids = () =>
      t.receiver.requests
        .filter(({ path }) => path.endsWith(`/${one.tid}`))
        .map(({ headers }) => String(headers["webhook-id"]))
        // Without what Postern tells of the replay.
        .filter((event) => expected.includes(event))
        .toSorted();
    const expected = [...replayed, ...replayed, ...published].toSorted();
    await eventually(async () => ids().length >= expected.length);
    assert.deepEqual(ids(), expected);
  });

  it("leaves what is due to the source until the switch: it is done and told once", async () => {
    const program = await t.begin();
    const { one, other } = await t.twoEndpoints(program);
    await untilTypesAreKnown();
    // A success would end the failing.
    t.receiverFails(true);
    const letWork = await keepWorkersFrom("eu1");
    await makeDue("eu1", one);
    const letGo = await holdMoves();
    const moving = startTask(["tenants", "move", one.tid, "--to", "eu2"], t.settings());
    await eventually(async () => moving.output().includes("waiting for attempts"));
    for (const shard of ["eu2", "eu1"])
      await t.rows(shard, `SELECT postern.publish($1, 'invoice.paid', '{}', 'key')`, [one.tid]);
    await makeDue("eu2", other);
    await eventually(async () => (await undoneOf("eu2", other.tid)).every((count) => count === 0));
    assert.deepEqual(await undoneOf("eu2", one.tid), [1, 1, 1]);
    await letWork();
    await eventually(async () => (await undoneOf("eu1", one.tid)).every((count) => count === 0));
    await letGo();
    await eventually(async () => moving.output().includes(`${one.tid} has moved`));
    assert.deepEqual(
      await eventually(async () => {
        const events = await t.rows(
          "eu2",
          "SELECT type, count(*)::int AS count FROM postern.events WHERE tenant_id = $1 GROUP BY type ORDER BY type",
          [one.tid],
        );
        return events.length >= 3 && events;
      }),
      ["delivery.exhausted", "endpoint.failing", "invoice.paid"].map((type) => ({ type, count: 1 })),
    );
    const ended = "SELECT FROM postern.deliveries WHERE tenant_id = $1 AND error = 'interrupted'";
    assert.equal((await t.rows("eu2", ended, [one.tid])).length, 1);
  });

  it("leaves no session of the portal behind: a process that knew the tenant makes it where the tenant lives", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    assert.equal((await move(one.tid, "--to", "eu2")).code, 0);
    const opened = await openPortal(program, await newPortalCode(program, one.tid));
    await usePortal(program, opened, one.id);
    assert.deepEqual(await rowsOf("eu1", one.tid), []);
  });
});
