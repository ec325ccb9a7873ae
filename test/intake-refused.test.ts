/** Messages of the intake that are not sent, or not yet: each is visible, and none stops the others. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { createEndpoint } from "./support/api.ts";
import { metric, send, store, storeRaw, take, untilEmpty } from "./support/intake.ts";
import { NatsCluster, withoutNats } from "./support/nats-cluster.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

const skip = withoutNats();
const EVENT = { type: "invoice.paid", data: { n: 1 } };
const entry = (type: string) => ({ type, title: "T", description: "D", group: "G", payloadShape: {} });

const hasMark = (mark: string) => (sent: { data: unknown }) => Object(sent.data).mark === mark;

describe("the relay of the intake", { skip }, () => {
  let cluster: NatsCluster;
  let service: TestService;
  let folder: string;
  let catalogFile: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "postern-intake-"));
    catalogFile = join(folder, "catalog.json");
    await writeCatalog("invoice.paid", "poison.pill");
    cluster = await NatsCluster.start(1);
    service = await startTestService({ env: { INTAKE_URL: cluster.url, EVENT_CATALOG: catalogFile } });
    await createEndpoint(service, { url: service.receiver.url, events: ["*"] });
    await eventually(() => take(service).catch(() => null));
    await untilEmpty(cluster);
  });
  after(async () => {
    await service.stop();
    await cluster.stop();
    await rm(folder, { recursive: true });
  });

  const writeCatalog = (...types: string[]) => writeFile(catalogFile, JSON.stringify(types.map(entry)));
  const refusals = (reason: string) => metric(service, `webhook_intake_refused_total{reason="${reason}"}`);

  function bodiesOf(type: string): { id: string; event: string; data: unknown }[] {
    return service.receiver.requests
      .map(({ body }) => JSON.parse(body.toString()))
      .filter(({ event }) => event === type);
  }

  async function untilSent(
    found: (sent: { data: unknown }) => boolean,
    type = "invoice.paid",
  ): Promise<void> {
    await eventually(async () => bodiesOf(type).some(found));
  }

  /** Whether another client hears an event at these inboxes on its way to a worker. */
  async function heardBy(inboxes: string): Promise<boolean> {
    const heard = await cluster.heard(inboxes, async () => {
      await store(cluster, "postern.events.acme", { ...EVENT, data: { mark: inboxes } });
      await untilSent(hasMark(inboxes));
    });
    return heard.some((text) => text.includes(`"mark":"${inboxes}"`));
  }

  it("accepts what a producer stored itself", async () => {
    await store(cluster, "postern.events.acme", { ...EVENT, data: { mark: "own" } });
    await untilSent(hasMark("own"));
  });

  for (const [reason, subject, body] of [
    ["malformed", "postern.events.acme", Buffer.from("no JSON")],
    ["malformed", "postern.events.acme", { what: "is this" }],
    ["malformed", "postern.accepted", EVENT],
    ["tenant", "postern.events.acme.invoices", EVENT],
    ["tenant", "postern.events.';DROP_TABLE-", EVENT],
    ["tenant", `postern.events.${"a".repeat(65)}`, EVENT],
    ["tenant", "postern.events.acme", { ...EVENT, tenant_id: "globex" }],
    ["data", "postern.events.acme", { ...EVENT, data: { text: "a\u0000" } }],
  ] as const) {
    it(`refuses as ${reason} ${JSON.stringify(body).slice(0, 40)} at ${subject.slice(0, 40)}`, async () => {
      const before = await refusals(reason);
      await store(cluster, subject, body);
      await store(cluster, "postern.events.acme", { ...EVENT, data: { mark: `after ${subject} ${before}` } });
      await untilSent(hasMark(`after ${subject} ${before}`));
      await eventually(async () => (await refusals(reason)) === before + 1);
      await untilEmpty(cluster);
    });
  }

  for (const [what, headers] of [
    ["name", "NATS/1.0\r\nbad name\u0000: x\r\n\r\n"],
    ["trace", "NATS/1.0\r\ntraceparent: a\u0000b\r\n\r\n"],
  ] as const) {
    it(`accepts an event with a header of a broken ${what}`, async () => {
      const mark = `broken ${what}`;
      await storeRaw(cluster, "postern.events.acme", headers, { ...EVENT, data: { mark } });
      await untilSent(hasMark(mark));
      await untilEmpty(cluster);
    });
  }

  it("gets events at inboxes of its own, and not where producers have theirs", async () => {
    assert.equal(await heardBy("_POSTERN_INBOX.>"), true);
    assert.equal(await heardBy("_INBOX.>"), false);
  });

  it("sends an event once for each idempotency key, and refuses another under the same", async () => {
    const before = await refusals("idempotency_key_reused");
    const keyed = { ...EVENT, id: "key", data: { mark: "keyed" } };
    const body = (await send(service, [keyed, keyed])).body;
    const ids = z
      .array(z.object({ id: z.string() }))
      .parse(body)
      .map(({ id }) => id);
    await store(cluster, "postern.events.acme", keyed);
    await untilSent(hasMark("keyed"));
    await untilEmpty(cluster);
    assert.equal(await refusals("idempotency_key_reused"), before);
    await store(cluster, "postern.events.acme", { ...keyed, data: { mark: "another" } });
    await eventually(async () => (await refusals("idempotency_key_reused")) === before + 1);
    await untilEmpty(cluster);
    // The database knows the key by now, so the answer tells.
    const repeated = await send(service, keyed);
    assert.equal(repeated.status, 200, repeated.text);
    const reused = await send(service, { ...keyed, data: {} });
    assert.equal(reused.status, 409, reused.text);
    const { rows } = await service.database.pool.query(
      "SELECT id FROM postern.events WHERE body ~ 'keyed|another'",
    );
    assert.equal(rows.length, 1);
    assert.ok(ids.includes(rows[0].id));
    assert.deepEqual(repeated.body, { id: rows[0].id, deliveries: 1 });
  });

  it("makes its stream again when somebody removed it: one that drops nothing, also when it is full", async () => {
    await cluster.withManager((manager) => manager.streams.delete("postern-intake"));
    await eventually(() => take(service, { data: { mark: "anew" } }).catch(() => null));
    await untilSent(hasMark("anew"));
    const { config } = await cluster.withManager((manager) => manager.streams.info("postern-intake"));
    const { retention, storage, discard, max_age, max_msgs_per_subject, duplicate_window } = config;
    assert.deepEqual([retention, storage, discard], ["workqueue", "file", "new"]);
    assert.deepEqual([max_age, max_msgs_per_subject, duplicate_window], [0, -1, 100_000_000]);
  });

  it("keeps an event whose type no catalog has yet, and sends it when one does", async () => {
    const putBack = 'webhook_intake_put_back_total{reason="unknown_event_type"}';
    await store(cluster, "postern.events.acme", { type: "brand.new", data: {} });
    await eventually(async () => (await metric(service, putBack)) > 0);
    await store(cluster, "postern.events.acme", { ...EVENT, data: { mark: "beside" } });
    await untilSent(hasMark("beside"));
    await writeCatalog("invoice.paid", "poison.pill", "brand.new");
    await untilSent(() => true, "brand.new");
    await untilEmpty(cluster);
  });

  it("holds up nothing beside an event whose key an open transaction has", async () => {
    const holder = await service.database.pool.connect();
    await holder.query("BEGIN");
    await holder.query(
      `INSERT INTO postern.idempotency_keys (tenant_id, key, event_id, fingerprint)
        VALUES ('acme', 'held', gen_random_uuid(), '\\x00')`,
    );
    await take(service, { id: "held", data: { mark: "held" } });
    for (let n = 0; n < 3; n++) {
      await take(service, { data: { mark: `beside held ${n}` } });
      await untilSent(hasMark(`beside held ${n}`));
    }
    assert.ok(!bodiesOf("invoice.paid").some(hasMark("held")));
    await holder.query("ROLLBACK");
    holder.release();
    await untilSent(hasMark("held"));
    await untilEmpty(cluster);
  });

  it("tries again what the database refuses for now, and holds up nothing beside it", async () => {
    const { pool } = service.database;
    await pool.query(
      "ALTER TABLE postern.events ADD CONSTRAINT no_poison CHECK (type <> 'poison.pill') NOT VALID",
    );
    await take(service, { type: "poison.pill" });
    await take(service, { data: { mark: "healthy" } });
    await untilSent(hasMark("healthy"));
    await eventually(
      async () => (await metric(service, 'webhook_intake_put_back_total{reason="failed"}')) > 0,
    );
    // What was sent may be acknowledged to the stream a moment later.
    await eventually(async () => (await cluster.messages()) === 1);
    await pool.query("ALTER TABLE postern.events DROP CONSTRAINT no_poison");
    await untilSent(() => true, "poison.pill");
    await untilEmpty(cluster);
  });
});
