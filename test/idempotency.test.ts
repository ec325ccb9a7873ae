/** Idempotency keys: one event for one key, whoever asks how often and at the same time. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { PRODUCER, type ApiAnswer, type Claims } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  publish,
  REFUSED,
  sortedStatuses,
  webhooksOf,
  type Webhooks,
} from "./support/webhooks.ts";

const TYPE = "invoice.paid";

const published = z.strictObject({ id: z.string(), deliveries: z.number() });
const publishedList = z.array(published);

let service: TestService;
let webhooks: Webhooks;

before(async () => {
  service = await startTestService();
  webhooks = webhooksOf(service);
});
after(() => service.stop());

const post = (json: unknown, as: Claims = PRODUCER): Promise<ApiAnswer> =>
  service.call("POST", "/api/events", { as, json });

const event = (id: string, data: object = {}) => ({ type: TYPE, data, id });

describe("an idempotency key", () => {
  it("answers 200 with the first result to the same content, and sends nothing more", async () => {
    const { endpoint } = await webhooks.create();
    const original = await publish(service, { type: TYPE, id: "k1", data: { a: 1, b: [1, { c: 2 }] } });
    await webhooks.waitFor(endpoint.id, "delivered");
    // Neither the order of members nor the way a number is written makes another content.
    const again = await service.call("POST", "/api/events", {
      as: PRODUCER,
      raw: `{"id":"k1","data":{"b":[1.0,{"c":2e0}],"a":1},"type":"${TYPE}"}`,
    });
    assert.deepEqual([again.status, again.body], [200, original]);
    await webhooks.create();
    assert.deepEqual((await post(event("k1", { a: 1, b: [1, { c: 2 }] }))).body, original);
    assert.equal((await webhooks.deliveries(endpoint.id)).length, 1);
    for (const { id } of await webhooks.list()) await webhooks.remove(id);
  });

  it("answers 409 to other content", async () => {
    await publish(service, { type: TYPE, id: "k2", data: { a: 1 } });
    const others = [
      event("k2", { a: 2 }),
      event("k2", { a: "1" }),
      event("k2", { a: 1, b: null }),
      event("k2", {}),
      { ...event("k2", { a: 1 }), type: "invoice.sent" },
    ];
    for (const other of others) {
      assertRefused(await post(other), REFUSED.keyReused);
      assertRefused(await post([other]), REFUSED.keyReused);
    }
  });

  it("belongs to its tenant", async () => {
    const ours = await publish(service, { type: TYPE, id: "k3" });
    const theirs = await publish(
      service,
      { type: TYPE, id: "k3", data: { other: 1 } },
      { ...PRODUCER, tid: "globex" },
    );
    assert.notEqual(ours.id, theirs.id);
  });

  it("may be any text of 128 characters", async () => {
    for (const id of ["ü".repeat(128), "🔑".repeat(128), "' OR 1=1 --", "{a,b}", '"', "\\", "null", " "]) {
      const original = await publish(service, { type: TYPE, id });
      const again = await post(event(id));
      assert.deepEqual([again.status, again.body], [200, original]);
    }
  });

  it("holds when its event is past its retention already", async () => {
    const original = await publish(service, { type: TYPE, id: "k7" });
    await service.database.pool.query("DELETE FROM postern.events WHERE id = $1", [original.id]);
    const again = await post(event("k7"));
    assert.deepEqual([again.status, again.body], [200, { id: original.id, deliveries: null }]);
    assertRefused(await post(event("k7", { other: 1 })), REFUSED.keyReused);
  });

  it("makes one event of concurrent requests with the same content", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(event("k4", { n: 1 }))));
    assert.deepEqual(sortedStatuses(answers), [...Array.from({ length: 19 }, () => 200), 202]);
    assert.equal(new Set(answers.map(({ body }) => published.parse(body).id)).size, 1);
  });

  it("lets one of concurrent contents win, alone and in arrays", async () => {
    for (const [key, wrap] of [
      ["k5", (it: object) => it],
      ["k6", (it: object) => [it]],
    ] as const) {
      const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => post(wrap(event(key, { n })))));
      assert.deepEqual(sortedStatuses(answers), [202, ...Array.from({ length: 9 }, () => 409)]);
    }
  });
});

describe("idempotency keys of an array", () => {
  it("answer 202 while any event is new, and 200 when all repeat", async () => {
    const one = await post([event("a1"), event("a2")]);
    assert.equal(one.status, 202);
    const mixed = await post([event("a2"), event("a3"), { type: TYPE, data: {} }]);
    assert.equal(mixed.status, 202);
    assert.equal(publishedList.parse(mixed.body)[0]?.id, publishedList.parse(one.body)[1]?.id);
    const repeated = await post([event("a1"), event("a3"), event("a1")]);
    assert.equal(repeated.status, 200);
    assert.deepEqual(
      publishedList.parse(repeated.body).map(({ id }) => id),
      [
        publishedList.parse(one.body)[0]?.id,
        publishedList.parse(mixed.body)[1]?.id,
        publishedList.parse(one.body)[0]?.id,
      ],
    );
  });

  it("undo the whole array when one stands for other content", async () => {
    await post([event("b1", { n: 1 })]);
    assertRefused(await post([event("b2"), event("b1", { n: 2 })]), REFUSED.keyReused);
    assert.equal((await post(event("b2", { other: true }))).status, 202);
    assertRefused(await post([event("b3", { n: 1 }), event("b3", { n: 2 })]), REFUSED.keyReused);
    assert.equal((await post(event("b3"))).status, 202);
  });

  it("stand twice in one array for one event", async () => {
    const answer = await post([event("c1"), event("c1")]);
    assert.equal(answer.status, 202);
    const [one, two] = publishedList.parse(answer.body);
    assert.deepEqual(one, two);
  });

  it("never lock each other out, in whatever order concurrent arrays name them", async () => {
    for (let round = 0; round < 5; round++) {
      const keys = Array.from({ length: 200 }, (_, n) => event(`d${round}-${n}`));
      const orders = [keys, keys.toReversed(), keys.toSorted(() => 0.5 - Math.random())];
      const answers = await Promise.all([...orders, ...orders].map((order) => post(order)));
      const singles = await Promise.all(keys.slice(0, 20).map((key) => post(key)));
      assert.deepEqual(sortedStatuses(answers), [200, 200, 200, 200, 200, 202]);
      assert.ok(singles.every(({ status }) => status === 200));
    }
  });
});
