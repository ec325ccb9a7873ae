/** The intake before two shards: each event goes to its tenant's, once, and waits for no other. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { writeAccepted } from "../src/intake/accepted-message.ts";
import { prepareIntakeOfShards, sendFor, storedEvent, type IntakeOfShards } from "./support/intake-shards.ts";
import { metric, store, untilEmpty } from "./support/intake.ts";
import { withoutNats } from "./support/nats-cluster.ts";
import { runProgram, type Program } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { ok } from "./support/shard-programs.ts";

const skip = withoutNats();
const EVENT = { type: "invoice.paid", data: { n: 1 } };
/** More than a worker holds at once. */
const MANY = 300;
const published = z.object({ id: z.string(), deliveries: z.number().nullable() });

describe("an intake before two shards", { skip }, () => {
  let t: IntakeOfShards;
  let program: Program;

  before(async () => {
    t = await prepareIntakeOfShards();
    program = await t.start("up");
    await eventually(async () => (await metric(program, "webhook_intake_replicas_current")) === 1);
  });
  after(() => t.close());

  const failures = () => program.output().split("the database takes no events").length - 1;
  const twoTenants = () => Promise.all([t.tenantOf(program, "eu1"), t.tenantOf(program, "eu2")]);
  const proxy = (shard: string) => t.tests.shards().proxy(shard);
  const putBack = (reason: string, shard: string): Promise<number> =>
    metric(program, `webhook_intake_put_back_total{reason="${reason}",shard="${shard}"}`);
  /** Events that the shard refused because their keys were used for others. */
  const refusedIn = (shard: string): Promise<number> =>
    metric(program, `webhook_intake_refused_total{reason="idempotency_key_reused",shard="${shard}"}`);
  const eventsOf = (shard: string, tid: string) =>
    t.tests.rows(shard, "SELECT id FROM postern.events WHERE tenant_id = $1", [tid]);

  it("delivers each tenant's events from its shard, also of an array over both", async () => {
    const [one, other] = await twoTenants();
    await t.publish(program, one);
    await t.publish(program, other);
    await t.publishArray(program, [one, other, other]);
    await t.delivered(one, other);
    assert.equal(await metric(program, "webhook_intake_accepted_total"), 5);
    assert.equal(await metric(program, 'webhook_events_accepted_total{shard="eu1"}'), 2);
    assert.equal(await metric(program, 'webhook_events_accepted_total{shard="eu2"}'), 3);
  });

  it("is a part of what the doctor looks at, beside the shards", async () => {
    const { printed } = await runProgram(["doctor"], t.tests.settings());
    assert.match(printed, /^ok +settings: complete$/m);
    assert.match(printed, /^ok +shards: 2 databases of one installation/m);
    assert.match(printed, /^ok +intake: stream postern-intake, 1 of 1 replica,/m);
  });

  it("places a tenant that nobody knows, and relays what a producer stored itself", async () => {
    const [one, other] = await twoTenants();
    const late = t.tests.shards().newTenant("eu2");
    for (const tid of [one, other, late]) {
      await store(t.cluster, `postern.events.${tid}`, [
        { ...EVENT, id: "own" },
        { ...EVENT, id: "another" },
      ]);
    }
    for (const tid of [one, other]) await eventually(async () => t.sentTo(tid).length === 2);
    await eventually(async () => (await eventsOf("eu2", late)).length === 2);
  });

  it("answers a repeated key as its tenant's shard knows it", async () => {
    for (const tid of await twoTenants()) {
      const id = await t.publish(program, tid, { id: "key" });
      await t.delivered(tid);
      const again = published.parse((await ok(sendFor(program, tid, { id: "key" }), 200)).body);
      assert.deepEqual(again, { id, deliveries: 1 });
      await ok(sendFor(program, tid, { id: "key", data: { n: 2 } }), 409);
    }
  });

  it("delivers one shard's events while the other is silent, and the other's when it is back, once each", async () => {
    const [one, other] = await twoTenants();
    const keyed = await t.tenantOf(program, "eu2");
    const first = await t.publish(program, keyed, { id: "before" });
    await t.publish(program, one, { id: "before" });
    await t.delivered(keyed, one);
    const refused = [await refusedIn("eu1"), await refusedIn("eu2")];
    proxy("eu2").pause();
    for (let n = 0; n < 40; n++) await Promise.all([t.publish(program, one), t.publish(program, other)]);
    await t.publishArray(program, [other, one, one, other]);
    // The shard cannot say whose these keys are: the relay finds the same content, and the other.
    const ids: string[] = [];
    for (const [id, n] of [
      ["before", 1],
      ["before", 2],
      ["during", 1],
      ["during", 1],
    ] as const) {
      const again = await ok(sendFor(program, keyed, { id, data: { n } }), 202);
      ids.push(published.parse(again.body).id);
    }
    // Refused in one shard, while the message waits for the other.
    const [reused, waiting] = [storedEvent(one, "before"), storedEvent(other, null)];
    await store(t.cluster, "postern.accepted", writeAccepted([reused, waiting]));
    t.expect(other, waiting.id);
    await t.delivered(one);
    const [ready] = await Promise.all([
      ok(program.call("GET", "/ready", { as: null }), 200),
      eventually(async () => (await putBack("away", "eu2")) > 0),
    ]);
    assert.match(ready.text, /shard eu2: [^"]*; events are taken by the intake's stream meanwhile/);
    assert.doesNotMatch(ready.text, /shard eu1/);
    await t.publish(program, one);
    await t.delivered(one);
    assert.deepEqual([t.sentTo(other), t.sentTo(keyed)], [[], [first]]);
    proxy("eu2").resume();
    await t.delivered(one, other);
    await untilEmpty(t.cluster);
    await eventually(async () => t.sentTo(keyed).length === 2);
    assert.ok(ids.slice(2).includes(t.sentTo(keyed)[1] ?? ""));
    // Once each, however often their messages came again.
    assert.deepEqual(
      [await refusedIn("eu1"), await refusedIn("eu2")],
      refused.map((count) => count + 1),
    );
    assert.equal(await putBack("away", "eu1"), 0);
  });

  it("takes events while the first shard, with the directory, is silent, and delivers those of tenants it knows", async () => {
    const [one, other] = await twoTenants();
    await t.publish(program, other);
    await t.delivered(other);
    proxy("eu1").pause();
    const late = t.tests.shards().newTenant("eu2");
    await t.publish(program, late, { id: "key of a tenant that only the directory can place" });
    await t.publish(program, one);
    await t.publish(program, other);
    await t.delivered(other);
    proxy("eu2").pause();
    for (const tid of [one, other, late]) await t.publish(program, tid);
    proxy("eu1").resume();
    proxy("eu2").resume();
    await t.delivered(one, other);
    await eventually(async () => (await eventsOf("eu2", late)).length === 2);
  });

  it("delivers one shard's events while the other answers, but stores none", async () => {
    const [one, other] = await twoTenants();
    const before = failures();
    await t.whileNoneIsStored("eu2", async () => {
      await t.storeMany(other, MANY);
      await t.publish(program, one);
      await t.delivered(one);
      // None of these has failed yet: the other's events found room before.
      assert.deepEqual([failures(), await putBack("failed", "eu2")], [before, 0]);
      assert.deepEqual(t.sentTo(other), []);
    });
    await eventually(async () => t.sentTo(other).length === MANY);
    assert.equal((await eventsOf("eu2", other)).length, MANY);
    await untilEmpty(t.cluster);
  });

  it("delivers one shard's events by a process that starts while the other is silent", async () => {
    const [one, other] = await twoTenants();
    await t.publish(program, other);
    await t.delivered(other);
    await program.end("SIGTERM");
    proxy("eu2").pause();
    program = await t.start("up");
    // It knows neither tenant.
    await t.publishArray(program, [other, one]);
    for (const tid of [other, one]) await t.publish(program, tid, { id: "key" });
    await t.delivered(one);
    assert.equal(t.sentTo(other).length, 1);
    proxy("eu2").resume();
    await t.delivered(one, other);
  });
});
