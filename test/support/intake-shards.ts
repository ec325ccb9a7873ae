/** Programs with an intake before two shards, and what was published for their tenants. */
import assert from "node:assert/strict";
import * as z from "zod";
import type { NewEvent } from "../../src/queue/queue.ts";
import { newEventId, type TenantId } from "../../src/shared/id.ts";
import { createEndpoint } from "./api.ts";
import { dispatchesMade } from "./intake.ts";
import { pidOf, waitersFor } from "./lock-waits.ts";
import { NatsCluster } from "./nats-cluster.ts";
import type { Program } from "./program.ts";
import type { ApiAnswer } from "./calls.ts";
import { eventually } from "./eventually.ts";
import { BACKEND, ok, owner, prepareShardTests, producer, published } from "./shard-programs.ts";

const accepted = z.object({ id: z.string(), deliveries: z.null() });

/** As the API has it in a message. */
export function storedEvent(tenantId: TenantId, idempotencyKey: string | null): NewEvent {
  const id = newEventId();
  const type = "invoice.paid";
  const body = JSON.stringify({ id, event: type, data: {} });
  return { id, tenantId, type, version: 1, body, others: null, patterns: [], idempotencyKey };
}

/** Publishes an event of the tenant over HTTP. */
export const sendFor = (program: Program, tid: TenantId, more: object = {}): Promise<ApiAnswer> =>
  program.call("POST", "/api/events", {
    as: producer(tid),
    json: { type: "invoice.paid", data: { n: 1 }, ...more },
  });

export type IntakeOfShards = Awaited<ReturnType<typeof prepareIntakeOfShards>>;

/** Once for a file; its programs are started with `tests.start`. */
export async function prepareIntakeOfShards(options: { movesTenants?: boolean } = {}) {
  const [tests, cluster] = await Promise.all([prepareShardTests(options), NatsCluster.start(1)]);
  await tests.prepare();
  /** What was answered 202 and is to be sent, by tenant. */
  const expected = new Map<TenantId, string[]>();

  /** An event of this tenant is to be sent. */
  function expect(tid: TenantId, id: string): void {
    expected.set(tid, [...(expected.get(tid) ?? []), id]);
  }

  const sentTo = (tid: TenantId): string[] =>
    tests.receiver.requests
      .filter(({ path }) => path.endsWith(`/${tid}`))
      .map(({ headers }) => String(headers["webhook-id"]));

  return {
    tests,
    cluster,
    expect,
    sentTo,
    start: (role: "api" | "worker" | "up"): Promise<Program> =>
      tests.start(role, (env) => ({ ...env, INTAKE_URL: cluster.url })),
    /** A new tenant of the shard, with an endpoint. */
    async tenantOf(program: Program, shard: string) {
      const tid = tests.shards().newTenant(shard);
      await createEndpoint(program, { url: `${tests.receiver.url}/${tid}` }, { as: owner(tid) });
      return tid;
    },
    async publish(program: Program, tid: TenantId, more: object = {}): Promise<string> {
      const { id } = accepted.parse((await ok(sendFor(program, tid, more), 202)).body);
      expect(tid, id);
      return id;
    },
    /** One event for each, in one request. */
    async publishArray(program: Program, tids: readonly TenantId[]): Promise<void> {
      const json = tids.map((tid, n) => ({ type: "invoice.paid", data: { n }, tenant_id: tid }));
      const answer = await ok(program.call("POST", "/api/events", { as: BACKEND, json }), 202);
      const ids = published.parse(answer.body);
      for (const [place, tid] of tids.entries()) expect(tid, ids[place]?.id ?? "");
    },
    /** Messages of a producer of its own, whose events are not expected. */
    async storeMany(tid: TenantId, count: number): Promise<void> {
      const message = JSON.stringify({ type: "invoice.paid", data: {} });
      await cluster.withClient(async (stream) => {
        await Promise.all(
          Array.from({ length: count }, () => stream.publish(`postern.events.${tid}`, message)),
        );
      });
    },
    /** Does the work while nobody can store an event in the shard, which answers everything else. */
    async whileNoneIsStored(
      shard: string,
      work: (someWaits: () => Promise<boolean>) => Promise<void>,
    ): Promise<void> {
      const { pool } = tests.shards().database(shard);
      const client = await pool.connect();
      try {
        await client.query("BEGIN; LOCK TABLE postern.events IN SHARE MODE");
        const pid = await pidOf(client);
        await work(async () => (await waitersFor(pool, pid)) > 0);
      } finally {
        await client.query("COMMIT");
        client.release();
      }
    },
    /** Each event of these tenants has reached the receiver, once. */
    async delivered(...tids: TenantId[]): Promise<void> {
      for (const tid of tids) {
        const ids = expected.get(tid) ?? [];
        await eventually(async () => sentTo(tid).length >= ids.length);
        assert.deepEqual(sentTo(tid).toSorted(), ids.toSorted());
      }
    },
    /** Each event of these tenants has reached the receiver, and is in one shard, with one dispatch made of it. */
    async allSentAndMadeOnce(...tids: TenantId[]): Promise<void> {
      const ids = tids.flatMap((tid) => expected.get(tid) ?? []);
      await eventually(async () => {
        const seen = new Set(tids.flatMap(sentTo));
        return ids.every((id) => seen.has(id));
      });
      const shards = ["eu1", "eu2"].map((name) => tests.shards().database(name));
      const made = (await Promise.all(shards.map(dispatchesMade))).flatMap((some) => Array.from(some));
      const known = new Set(ids);
      const own = made.filter(([id]) => known.has(id));
      assert.deepEqual(own.map(([id]) => id).toSorted(), ids.toSorted());
      assert.ok(own.every(([, count]) => count === 1));
    },
    async close(): Promise<void> {
      await tests.end();
      await tests.close();
      await cluster.stop();
    },
  };
}
