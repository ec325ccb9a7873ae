/** What goes on beside the move of a tenant: publishing in SQL, replays, sends by people, notices, sessions. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import * as z from "zod";
import { createEndpoint, publish } from "./support/api.ts";
import { startTask } from "./support/program.ts";
import { replaysOf } from "./support/replays.ts";
import { eventually } from "./support/eventually.ts";
import {
  BACKEND,
  delivered,
  newPortalCode,
  ok,
  openPortal,
  owner,
  prepareShardTests,
  producer,
  publishArray,
  usePortal,
  type ShardTests,
} from "./support/shard-programs.ts";
import { holdMoves, moveTenant, requireAll, rowsOf } from "./support/tenant-moves.ts";

let t: ShardTests;

before(async () => {
  t = await prepareShardTests({ movesTenants: true });
});
afterEach(() => t.end());
after(() => t.close());

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

describe("the move of a tenant", () => {
  it("holds an endpoint that is made meanwhile, and is noticed by processes that knew the tenant", async () => {
    const program = await t.begin();
    const knowing = await t.start("api");
    const tid = t.shards().newTenant("eu1");
    await ok(knowing.call("GET", "/api/webhooks", { as: owner(tid) }), 200);
    const letGo = await holdMoves(t);
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
    await requireAll(t, program, { tid, id }, [event.id]);
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
    const letGo = await holdMoves(t);
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
    const letGo = await holdMoves(t);
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

  it("leaves the outcome of a test where the tenant lives as its receiver answers", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    const as = owner(one.tid);
    const answer = t.holdReceiver();
    const json = { event_type: "invoice.paid" };
    const testing = program.call("POST", `/api/webhooks/${one.id}/test`, { as, json });
    await eventually(async () => t.sentTo(one.tid) === 1);
    assert.equal((await moveTenant(t, one.tid, "--to", "eu2")).code, 0);
    answer();
    // A slow machine may have let the attempt's time run out.
    const { body } = await ok(testing, 200);
    const { status } = z.object({ status: z.enum(["test", "failed"]) }).parse(body);
    const logged = await t.rows("eu2", "SELECT status FROM postern.deliveries WHERE tenant_id = $1", [
      one.tid,
    ]);
    assert.deepEqual(logged, [{ status }]);
    assert.deepEqual(
      await t.rows("eu2", "SELECT FROM postern.person_sends WHERE tenant_id = $1", [one.tid]),
      [],
    );
    assert.equal(t.sentTo(one.tid), 1);
  });

  it("leaves no session of the portal behind: a process that knew the tenant makes it where the tenant lives", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    assert.equal((await moveTenant(t, one.tid, "--to", "eu2")).code, 0);
    const opened = await openPortal(program, await newPortalCode(program, one.tid));
    await usePortal(program, opened, one.id);
    assert.deepEqual(await rowsOf(t, "eu1", one.tid), []);
  });
});
