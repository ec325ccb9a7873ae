/** The intake while tenants move from one shard to another, and workers are killed: each event is accepted once. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { nanos } from "@nats-io/transport-node";
import { writeAccepted } from "../src/intake/accepted-message.ts";
import { CONSUMER, STREAM } from "../src/intake/stream.ts";
import type { TenantId } from "../src/shared/id.ts";
import { prepareIntakeOfShards, sendFor, storedEvent, type IntakeOfShards } from "./support/intake-shards.ts";
import { metric, store, untilEmpty } from "./support/intake.ts";
import { withoutNats } from "./support/nats-cluster.ts";
import type { Program } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { ok } from "./support/shard-programs.ts";
import { moveTenant } from "./support/tenant-moves.ts";

const skip = withoutNats();
/** More than a worker holds at once. */
const MANY = 300;

describe("an intake before two shards", { skip }, () => {
  let t: IntakeOfShards;
  let api: Program;
  let worker: Program;

  before(async () => {
    t = await prepareIntakeOfShards({ movesTenants: true });
    api = await t.start("api");
    worker = await t.start("worker");
    await eventually(async () => (await metric(api, "webhook_intake_replicas_current")) === 1);
  });
  after(() => t.close());

  async function fence(tid: TenantId, isFenced: boolean): Promise<void> {
    await t.tests.rows("eu2", "UPDATE postern.shard_tenants SET fenced = $2 WHERE tenant_id = $1", [
      tid,
      isFenced,
    ]);
  }

  async function move(tid: TenantId, shard: string): Promise<void> {
    const { code, output } = await moveTenant(t.tests, tid, "--to", shard);
    assert.equal(code, 0, output);
  }

  it("keeps the events of a tenant that is being moved waiting, and no others of its shard", async () => {
    const [fenced, other] = [await t.tenantOf(api, "eu2"), await t.tenantOf(api, "eu2")];
    for (const tid of [fenced, other]) await t.publish(api, tid);
    await t.delivered(fenced, other);
    await fence(fenced, true);
    await t.storeMany(fenced, MANY);
    await t.publishArray(api, [fenced, other, fenced]);
    for (let n = 0; n < 5; n++) {
      await t.publish(api, other);
      await t.delivered(other);
    }
    assert.equal(t.sentTo(fenced).length, 1);
    const waiting = 'webhook_intake_put_back_total{reason="moving",shard="eu2"}';
    await eventually(async () => (await metric(worker, waiting)) > 0);
    await fence(fenced, false);
    await eventually(async () => t.sentTo(fenced).length === MANY + 3);
    await untilEmpty(t.cluster);
    assert.equal(new Set(t.sentTo(fenced)).size, MANY + 3);
    assert.equal(await metric(worker, 'webhook_intake_put_back_total{reason="failed",shard="eu2"}'), 0);
  });

  it("sends each event once while its tenant is moved, also those whose message comes again behind it", async () => {
    const tid = await t.tenantOf(api, "eu2");
    const key = await t.publish(api, tid, { id: "key" });
    const again = writeAccepted([storedEvent(tid, "of a message"), storedEvent(tid, null)]);
    await store(t.cluster, "postern.accepted", again);
    await eventually(async () => t.sentTo(tid).length === 3);
    const before = t.sentTo(tid);
    const over = new AbortController();
    const accepted: string[] = [];
    const publishing = (async () => {
      while (!over.signal.aborted) accepted.push(await t.publish(api, tid));
    })();
    await move(tid, "eu1");
    over.abort();
    await publishing;
    // As a worker leaves it that died behind its commit in the former shard.
    await store(t.cluster, "postern.accepted", again);
    const last = await t.publish(api, tid);
    await untilEmpty(t.cluster);
    const all = [...before, ...accepted, last];
    await eventually(async () => t.sentTo(tid).length >= all.length);
    assert.deepEqual(t.sentTo(tid).toSorted(), all.toSorted());
    const stored = await t.tests.rows("eu1", "SELECT id FROM postern.events WHERE tenant_id = $1", [tid]);
    assert.deepEqual(stored.map(({ id }) => String(id)).toSorted(), all.toSorted());
    // This process has only published for it since, to the stream.
    const repeated = await ok(sendFor(api, tid, { id: "key" }), 200);
    assert.equal(Object(repeated.body).id, key);
  });

  it("loses no event of either shard when workers are killed amid the relay, and accepts none twice", async () => {
    const [one, other] = [await t.tenantOf(api, "eu1"), await t.tenantOf(api, "eu2")];
    // What a killed worker held is handed out again sooner, and what a busy one holds, too.
    await t.cluster.withManager((manager) =>
      manager.consumers.update(STREAM, CONSUMER, { ack_wait: nanos(2_000) }),
    );
    await worker.end("SIGKILL");
    const both = Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? one : other));
    await Promise.all(Array.from({ length: 10 }, () => t.publishArray(api, both)));
    await t.whileNoneIsStored("eu2", async (someWaits) => {
      const workers = await Promise.all([t.start("worker"), t.start("worker")]);
      await eventually(someWaits);
      await Promise.all(workers.map((one) => one.end("SIGKILL")));
    });
    const survivor = await t.start("worker");
    await Promise.all(Array.from({ length: 10 }, () => t.publishArray(api, both)));
    await survivor.end("SIGTERM");
    await t.start("worker");
    await untilEmpty(t.cluster);
    await t.allSentAndMadeOnce(one, other);
  });
});
