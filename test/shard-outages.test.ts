/** A shard that is dead: its tenants' callers are told at once, and the others' notice nothing. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { createEndpoint, publish } from "./support/api.ts";
import { eventually } from "./support/eventually.ts";
import { runProgram } from "./support/program.ts";
import {
  BACKEND,
  delivered,
  ok,
  owner,
  prepareShardTests,
  producer,
  type ShardTests,
  newPortalCode,
  openPortal,
  usePortal,
} from "./support/shard-programs.ts";

let t: ShardTests;
before(async () => {
  t = await prepareShardTests();
});
afterEach(() => t.end());
after(() => t.close());

describe("one of two shards that is dead", () => {
  for (const [how, kill] of [
    ["silent", (name: string) => t.shards().proxy(name).pause()],
    ["gone", (name: string) => t.shards().proxy(name).close()],
  ] as const) {
    it(`leaves the other's tenants served, and its own callers with 503, when it is ${how}`, async () => {
      const program = await t.begin();
      const { one, other } = await t.twoEndpoints(program);
      await kill("eu2");
      const refused = await Promise.all([
        program.call("GET", "/api/webhooks", { as: owner(other.tid) }),
        program.call("GET", `/api/webhooks/${other.id}/deliveries`, { as: owner(other.tid) }),
        program.call("POST", "/api/webhooks", { as: owner(other.tid), json: { url: t.receiver.url } }),
        program.call("POST", "/api/events", {
          as: producer(other.tid),
          json: { type: "invoice.paid", data: {} },
        }),
      ]);
      for (const answer of refused) {
        assert.equal(answer.status, 503, answer.text);
        assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]/);
      }
      await publish(program, "invoice.paid", { as: producer(one.tid) });
      await delivered(program, one);
      const late = t.shards().newTenant("eu1");
      await createEndpoint(program, { url: t.receiver.url }, { as: owner(late) });
      const ready = await ok(program.call("GET", "/ready", { as: null }), 200);
      assert.match(ready.text, /shard eu2: the database cannot be reached/);
      assert.doesNotMatch(ready.text, /shard eu1/);
    });
  }

  it("leaves the portal to the other's users when it is silent, and answers its own with 503", async () => {
    const program = await t.begin();
    const { one, other } = await t.twoEndpoints(program);
    const codes = [await newPortalCode(program, one.tid), await newPortalCode(program, other.tid)] as const;
    t.shards().proxy("eu2").pause();
    await usePortal(program, await openPortal(program, codes[0]), one.id);
    await ok(openPortal(program, codes[1]), 503);
    await ok(program.call("GET", `/api/tenants/${other.tid}`, { as: BACKEND }), 503);
    await ok(program.call("GET", `/api/tenants/${one.tid}`, { as: BACKEND }), 200);
    await ok(program.call("GET", "/api/tenants", { as: BACKEND }), 503);
  });

  it("is named by a command whose call it keeps from its answer, also the first", async () => {
    for (const name of ["eu2", "eu1"]) {
      const program = await t.begin();
      const { one, other } = await t.twoEndpoints(program);
      await t.shards().proxy(name).close();
      const tid = name === "eu1" ? one.tid : other.tid;
      for (const args of [["list"], ["show", "--tenant", tid]]) {
        const answered = eventually(async () => {
          const ran = await runProgram(["tenants", ...args, "--url", program.url], t.settings());
          return ran.printed.includes("unavailable") && ran.errors.includes(`shard ${name}: `) ? ran : null;
        });
        const { code, errors } = await answered;
        assert.equal(code, 1);
        assert.match(errors, new RegExp(`/ready: shard ${name}: the database cannot be reached$`, "m"));
      }
      await t.end();
    }
  });

  it("serves tenants that it knows while the first, with the directory, is dead", async () => {
    const program = await t.begin();
    const { one, other } = await t.twoEndpoints(program);
    t.shards().proxy("eu1").pause();
    await publish(program, "invoice.paid", { as: producer(other.tid) });
    await delivered(program, other);
    await ok(program.call("GET", "/api/webhooks", { as: owner(one.tid) }), 503);
    await ok(program.call("GET", "/api/webhooks", { as: owner(t.shards().newTenant("eu2")) }), 503);
  });

  it("does not keep a process from starting, and is used when it is back", async () => {
    const program = await t.begin();
    const { one, other } = await t.twoEndpoints(program);
    await program.end("SIGTERM");
    t.shards().proxy("eu2").pause();
    const successor = await t.start();
    await publish(successor, "invoice.paid", { as: producer(one.tid) });
    await delivered(successor, one);
    await ok(successor.call("GET", "/api/webhooks", { as: owner(other.tid) }), 503);
    t.shards().proxy("eu2").resume();
    await eventually(
      async () => (await successor.call("GET", "/api/webhooks", { as: owner(other.tid) })).status === 200,
    );
    await publish(successor, "invoice.paid", { as: producer(other.tid) });
    await delivered(successor, other);
  });

  it("is not worked on when it is back as another installation's, and gets nothing of its tenants", async () => {
    const program = await t.begin();
    const { other } = await t.twoEndpoints(program);
    const types = () => t.rows("eu1", "SELECT FROM postern.event_types WHERE type = 'invoice.paid'");
    await eventually(async () => (await types()).length === 1);
    await program.end("SIGTERM");
    t.shards().proxy("eu2").pause();
    await t.rows("eu1", "SELECT postern.publish($1, 'invoice.paid', '{}')", [other.tid]);
    await t.rows("eu2", "UPDATE postern.shard SET directory = gen_random_uuid()");
    await t.rows("eu2", "SELECT postern.publish($1, 'invoice.paid', '{}')", ["somebody"]);
    const successor = await t.start();
    t.shards().proxy("eu2").resume();
    const refusals = () => successor.output().split("nothing works on it").length - 1;
    await eventually(async () => refusals() >= 2);
    await ok(successor.call("GET", "/api/webhooks", { as: owner(other.tid) }), 503);
    const event = { type: "invoice.paid", data: {} };
    await ok(successor.call("POST", "/api/events", { as: producer(other.tid), json: event }), 503);
    assert.match(
      successor.output(),
      /"shard":"eu2"[^\n]*another installation|another installation[^\n]*"shard":"eu2"/,
    );
    assert.equal((await t.rows("eu2", "SELECT FROM postern.outbox")).length, 1);
    assert.deepEqual(await t.rows("eu1", "SELECT shard FROM postern.handovers"), [{ shard: "eu2" }]);
    assert.deepEqual(await t.rows("eu2", "SELECT FROM postern.dispatches"), []);
  });
});
