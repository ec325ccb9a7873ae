/** Events that come in at one shard and belong into another: each is sent once, whatever dies in between. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { makeChooser } from "../src/shards/choose-shard.ts";
import { newEventId } from "../src/shared/id.ts";
import { createEndpoint, publish } from "./support/api.ts";
import type { Program } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import {
  BACKEND,
  delivered,
  ok,
  owner,
  prepareShardTests,
  producer,
  publishArray,
  published,
  type ShardTests,
} from "./support/shard-programs.ts";

let t: ShardTests;
before(async () => {
  t = await prepareShardTests();
});
afterEach(() => t.end());
after(() => t.close());

/** What the metrics say of events in a shard that wait for others. */
async function waitingIn(program: Program, shard: string) {
  const { text } = await ok(program.call("GET", "/metrics", { as: null }), 200);
  const figure = (name: string) =>
    Number(text.match(new RegExp(`^webhook_handovers_${name}\\{shard="${shard}"\\} (\\S+)$`, "m"))?.[1]);
  return { count: figure("waiting"), ageS: figure("oldest_age_seconds") };
}

describe("an array of events over two shards", () => {
  it("is committed once, and each event delivered once in its tenant's shard", async () => {
    const program = await t.begin();
    const { one, other } = await t.twoEndpoints(program);
    const answer = await publishArray(program, [one.tid, other.tid, one.tid, other.tid]);
    assert.deepEqual(
      answer.map(({ deliveries }) => deliveries),
      [1, null, 1, null],
    );
    await delivered(program, one, 2);
    const found = await delivered(program, other, 2);
    const ids = found.map(({ event_id: id }) => id);
    assert.deepEqual(new Set(ids), new Set([answer[1]?.id, answer[3]?.id]));
    await eventually(async () => (await t.rows("eu1", "SELECT FROM postern.handovers")).length === 0);
  });

  it("is accepted while the other's shard is away, and delivered there when it is back", async () => {
    const program = await t.begin();
    const { one, other } = await t.twoEndpoints(program);
    t.shards().proxy("eu2").pause();
    await publishArray(program, [one.tid, other.tid]);
    await delivered(program, one);
    t.shards().proxy("eu2").resume();
    await delivered(program, other);
  });

  it("finds its way to a shard that answers while tenants of another that does not wait before it", async () => {
    const program = await t.begin(["eu1", "eu2", "eu3"]);
    const { one, other } = await t.twoEndpoints(program);
    await program.end("SIGTERM");
    t.shards().proxy("eu3").pause();
    const again = await t.start();
    const away = t.shards().newTenant("eu3");
    await publishArray(again, [one.tid, away, other.tid]);
    await delivered(again, other);
    // Stored there, and then deleted here.
    await eventually(async () => {
      const left = await t.rows("eu1", "SELECT shard FROM postern.handovers");
      return isDeepStrictEqual(left, [{ shard: "eu3" }]);
    });
    t.shards().proxy("eu3").resume();
    await eventually(async () => (await t.rows("eu1", "SELECT FROM postern.handovers")).length === 0);
  });

  it("claims the keys of the other's events in its shard", async () => {
    const program = await t.begin();
    const { one, other } = await t.twoEndpoints(program);
    const events = (n: number) => [
      { type: "invoice.paid", data: { n: 1 }, tenant_id: one.tid },
      { type: "invoice.paid", data: { n }, tenant_id: other.tid, id: "key" },
    ];
    const send = (n: number) => program.call("POST", "/api/events", { as: BACKEND, json: events(n) });
    const first = published.parse((await ok(send(1), 202)).body);
    await delivered(program, other);
    const again = published.parse((await ok(send(1), 202)).body);
    assert.equal(again[1]?.id, first[1]?.id);
    await ok(send(2), 409);
    const alone = { type: "invoice.paid", data: { n: 1 }, id: "key" };
    await ok(program.call("POST", "/api/events", { as: producer(other.tid), json: alone }), 200);
    await delivered(program, one, 2);
    await delivered(program, other, 1);
  });

  it("reaches a tenant whose id is a word for no value in a list of PostgreSQL", async () => {
    const program = await t.begin();
    const choose = makeChooser(["eu1", "eu2"].map((name) => ({ name, weight: 1 })));
    const tid = ["null", "NULL", "Null", "nULL", "nuLL"].find((id) => choose(id) === "eu2");
    assert.ok(tid !== undefined);
    const url = `${t.receiver.url}/${tid}`;
    const { id } = (await createEndpoint(program, { url }, { as: owner(tid) })).endpoint;
    await publishArray(program, [t.shards().newTenant("eu1"), tid]);
    await delivered(program, { tid, id });
    await publish(program, "invoice.paid", { as: producer(tid) });
    await delivered(program, { tid, id }, 2);
  });

  it("reaches the others when their shard refuses one of its tenants", async () => {
    const program = await t.begin();
    const { one, other } = await t.twoEndpoints(program);
    const fenced = t.shards().newTenant("eu2");
    await publish(program, "invoice.paid", { as: producer(fenced) });
    await t.rows("eu2", "UPDATE postern.shard_tenants SET fenced = true WHERE tenant_id = $1", [fenced]);
    await publishArray(program, [one.tid, fenced, other.tid, fenced, other.tid, fenced]);
    await delivered(program, other, 2);
    await t.rows("eu2", "UPDATE postern.shard_tenants SET fenced = false WHERE tenant_id = $1", [fenced]);
    await eventually(async () => (await t.rows("eu1", "SELECT FROM postern.handovers")).length === 0);
  });

  it("reaches the others when their shard refuses one of its events", async () => {
    const program = await t.begin();
    const { other } = await t.twoEndpoints(program);
    const third = t.shards().newTenant("eu2");
    const known = await publish(program, "invoice.paid", { as: producer(other.tid) });
    await publish(program, "invoice.paid", { as: producer(third) });
    // An id that another tenant's event has there: no event can have it twice. In one commit, so that they go together.
    await t.rows(
      "eu1",
      `INSERT INTO postern.handovers (id, tenant_id, shard, type, version, body)
        SELECT id, tenant_id, 'eu2', 'invoice.paid', 1, '{}' FROM unnest($1::uuid[], $2::text[]) AS given (id, tenant_id)`,
      [
        [known.id, newEventId()],
        [third, other.tid],
      ],
    );
    await delivered(program, other, 2);
    await eventually(async () =>
      isDeepStrictEqual(await t.rows("eu1", "SELECT id FROM postern.handovers"), [{ id: known.id }]),
    );
  });

  it("survives the end of its process before the other's events are handed over", async () => {
    const first = await t.begin();
    const { one, other } = await t.twoEndpoints(first);
    await first.end("SIGTERM");
    const api = await t.start("api");
    await publishArray(api, [one.tid, other.tid]);
    await api.end("SIGKILL");
    assert.equal((await t.rows("eu1", "SELECT FROM postern.handovers")).length, 1);
    const program = await t.start();
    await delivered(program, one);
    await delivered(program, other);
  });

  it("is sent once when a process ends behind the other shard's commit, and its row is left", async () => {
    const api = await t.begin();
    const { one, other } = await t.twoEndpoints(api);
    const [, handed] = await publishArray(api, [one.tid, other.tid]);
    const [delivery] = await delivered(api, other);
    await eventually(async () => (await t.rows("eu1", "SELECT FROM postern.handovers")).length === 0);
    // As that end leaves it: the event is in both.
    await t.rows(
      "eu1",
      `INSERT INTO postern.handovers (id, tenant_id, type, version, body) VALUES ($1, $2, 'invoice.paid', 1, $3)`,
      [handed?.id, other.tid, delivery?.request_body],
    );
    await eventually(async () => (await t.rows("eu1", "SELECT FROM postern.handovers")).length === 0);
    await publish(api, "invoice.paid", { as: producer(other.tid) });
    await delivered(api, other, 2);
    assert.equal(t.sentTo(other.tid), 2);
  });
});

describe("the metrics of hand-overs", () => {
  it("show how many events wait in a shard, and the age of the oldest", async () => {
    const program = await t.begin();
    // A lease keeps the workers from them.
    await t.rows(
      "eu1",
      `INSERT INTO postern.handovers (id, tenant_id, type, version, body, lease_until)
        SELECT postern.lowest_id_at(now() - age), 'acme', 'invoice.paid', 1, '{}', now() + interval '1 hour'
        FROM unnest('{2 hours,1 minute}'::interval[]) AS given (age)`,
    );
    await eventually(async () => (await waitingIn(program, "eu1")).count === 2);
    const { ageS } = await waitingIn(program, "eu1");
    assert.ok(ageS >= 7200 && ageS < 10_800, String(ageS));
    assert.deepEqual(await waitingIn(program, "eu2"), { count: 0, ageS: 0 });
    await t.rows("eu1", "DELETE FROM postern.handovers");
    await eventually(async () => (await waitingIn(program, "eu1")).count === 0);
    assert.equal((await waitingIn(program, "eu1")).ageS, 0);
  });
});

describe("postern.publish in a shard in which the tenant is not", () => {
  it("reaches the tenant's endpoints once, and its key counts where the tenant lives", async () => {
    const program = await t.begin();
    const { one, other } = await t.twoEndpoints(program);
    const sql = `SELECT postern.publish($1, 'invoice.paid', '{"n": 1}', 'from-sql') AS id`;
    await eventually(
      async () =>
        (await t.rows("eu1", "SELECT FROM postern.event_types WHERE type = 'invoice.paid'")).length === 1,
    );
    const [there] = await t.rows("eu1", sql, [other.tid]);
    await t.rows("eu1", sql, [one.tid]);
    const [delivery] = await delivered(program, other);
    assert.equal(delivery?.event_id, there?.["id"]);
    await delivered(program, one);
    const json = { type: "invoice.paid", data: { n: 1 }, id: "from-sql" };
    for (const tid of [one.tid, other.tid]) {
      await ok(program.call("POST", "/api/events", { as: producer(tid), json }), 200);
    }
  });

  it("places a tenant that nobody knows, and sends what it was published with its key", async () => {
    const program = await t.begin();
    const tid = t.shards().newTenant("eu1");
    await eventually(
      async () =>
        (await t.rows("eu1", "SELECT FROM postern.event_types WHERE type = 'invoice.paid'")).length === 1,
    );
    await t.rows("eu1", `SELECT postern.publish($1, 'invoice.paid', '{}', 'first')`, [tid]);
    await eventually(
      async () =>
        (await t.rows("eu1", "SELECT FROM postern.events WHERE tenant_id = $1", [tid])).length === 1,
    );
    assert.ok(program.url);
  });
});
