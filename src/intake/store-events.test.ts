import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openCatalog } from "../events/live-catalog.ts";
import { checkEvents } from "../events/checked-events.ts";
import type { NewEvent } from "../queue/queue.ts";
import { newEventId, parseTenantId } from "../shared/id.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { readAccepted } from "./accepted-message.ts";
import { makeStoring } from "./store-events.ts";
import { MessageTooLargeError, StreamUnavailableError } from "./stream.ts";

const catalog = (await openCatalog(undefined)).current();
const eventsOf = (...tenants: string[]) =>
  tenants.flatMap((tenant) =>
    checkEvents([{ type: "invoice.paid", data: {} }], parseTenantId(tenant), catalog),
  );

const given = (tenant: string, key: string, data: Record<string, unknown>, type = "invoice.paid") =>
  checkEvents([{ type, data, id: key }], parseTenantId(tenant), catalog);

/** The tenants in each message that concurrent requests make, with the lane of their first tenant's name. */
async function messagesOf(...requests: string[][]): Promise<string[][]> {
  const messages: string[][] = [];
  const durable = makeStoring({
    stream: {
      async store(message) {
        const events = readAccepted(JSON.parse(Buffer.from(message).toString())) ?? [];
        messages.push(events.map(({ tenantId }) => tenantId));
      },
    },
    findKnownKeys: async () => new Map(),
    laneOf: ([first]) => first?.tenantId.at(0) ?? "",
    metrics: makeMetrics(),
  });
  await Promise.all(requests.map((tenants) => durable(eventsOf(...tenants))));
  return messages;
}

describe("storing the events of concurrent requests", () => {
  it("divides them by what is left of a request without its known keys", async () => {
    const lanes: string[][] = [];
    const durable = makeStoring({
      stream: { store: async () => undefined },
      findKnownKeys: async ([first]) =>
        new Map(
          first === undefined ? [] : [[first.id, { id: first.id, dispatchCount: 1, sameContent: true }]],
        ),
      laneOf: (events) => {
        lanes.push(events.map(({ tenantId }) => tenantId));
        return "";
      },
      metrics: makeMetrics(),
    });
    await durable(eventsOf("acme", "globex"));
    assert.deepEqual(lanes, [["globex"]]);
  });

  it("puts those of one lane into one message, and those of others into others", async () => {
    assert.deepEqual(await messagesOf(["a1"], ["b1"], ["a2"], ["b2", "a3"]), [
      ["a1", "a2"],
      ["b1", "b2", "a3"],
    ]);
  });
});

/** What becomes of events that are stored so, and how often that was tried. */
async function tries(store: () => Promise<void>, known: Parameters<typeof makeStoring>[0]["findKnownKeys"]) {
  const metrics = makeMetrics();
  let asked = 0;
  const durable = makeStoring({
    stream: {
      store: () => {
        asked++;
        return store();
      },
    },
    findKnownKeys: known,
    metrics,
  });
  const outcome = await durable(eventsOf("acme")).catch(({ code, retryAfterS }) => [code, retryAfterS]);
  const accepted = (await metrics.intakeAccepted.get()).values[0]?.value;
  return { outcome, asked, accepted };
}

const nothing = async () => undefined;
const isKnown = (sameContent: boolean) => async (events: readonly NewEvent[]) =>
  new Map(events.map(({ id }) => [id, { id, dispatchCount: 1, sameContent }]));
const tooLarge = async () => {
  throw new MessageTooLargeError("of 1 MiB");
};

describe("storing events", () => {
  it("counts those that the stream has, and not those of keys that are known", async () => {
    const metrics = makeMetrics();
    const events = eventsOf("acme", "acme");
    const [known, other] = events;
    assert.ok(known !== undefined && other !== undefined);
    const earlier = { id: newEventId(), dispatchCount: 2, sameContent: true };
    const durable = makeStoring({
      stream: { store: async () => undefined },
      findKnownKeys: async () => new Map([[known.id, earlier]]),
      metrics,
    });
    assert.deepEqual(await durable(events), [
      { id: earlier.id, dispatchCount: 2, isNew: false },
      { id: other.id, dispatchCount: null, isNew: true },
    ]);
    assert.equal((await metrics.intakeAccepted.get()).values[0]?.value, 1);
  });

  it("tries again where the stream is away, and fails at once on any other fault", async () => {
    const answers = [new StreamUnavailableError("away"), new Error("broken")];
    const durable = makeStoring({
      stream: {
        async store() {
          const error = answers.shift();
          if (error !== undefined) throw error;
        },
      },
      findKnownKeys: async () => new Map(),
      metrics: makeMetrics(),
    });
    await assert.rejects(durable(eventsOf("acme")), { message: "broken" });
    assert.deepEqual(answers, []);
    await durable(eventsOf("acme"));
  });

  it("refuses a key that stands for other content, and stores nothing of its request", async () => {
    assert.deepEqual(await tries(nothing, isKnown(false)), {
      outcome: ["idempotency_key_reused", undefined],
      asked: 0,
      accepted: 0,
    });
  });

  it("stores an event once that a request has twice under one key, and refuses other content under it", async () => {
    const stored: string[] = [];
    const metrics = makeMetrics();
    const durable = makeStoring({
      stream: {
        async store(message) {
          const events = readAccepted(JSON.parse(Buffer.from(message).toString())) ?? [];
          stored.push(...events.map(({ id }) => id));
        },
      },
      findKnownKeys: async () => new Map(),
      metrics,
    });
    const events = [
      ...given("acme", "k", { a: 1, b: [2] }),
      ...given("globex", "k", { a: 2 }),
      ...given("acme", "k", { b: [2], a: 1 }),
      ...given("acme", "l", { a: 2 }),
    ];
    const answers = await durable(events);
    assert.deepEqual(
      answers.map(({ id, isNew }) => [events.findIndex((event) => event.id === id), isNew]),
      [
        [0, true],
        [1, true],
        [0, false],
        [3, true],
      ],
    );
    assert.deepEqual(
      stored,
      [0, 1, 3].map((place) => events[place]?.id),
    );
    assert.equal((await metrics.intakeAccepted.get()).values[0]?.value, 3);

    for (const other of [given("acme", "k", { a: 1 }), given("acme", "k", { a: 1, b: [2] }, "invoice.sent")])
      await assert.rejects(durable([...events, ...other]), { code: "idempotency_key_reused" });
    assert.equal(stored.length, 3);
    // One double is both.
    const exact = ["9007199254740993", "9007199254740992"].map((n) =>
      Object.assign({}, ...given("acme", "n", {}), {
        id: newEventId(),
        body: `{"data":{"n":${n}}}`,
      }),
    );
    await assert.rejects(durable(exact), { code: "idempotency_key_reused" });
    const [first] = exact;
    assert.deepEqual(
      (await durable([first, { ...first, id: newEventId() }])).map(({ id }) => id),
      [first?.id, first?.id],
    );
  });

  it("stores nothing where all keys are known", async () => {
    const { asked, accepted } = await tries(nothing, isKnown(true));
    assert.deepEqual([asked, accepted], [0, 0]);
  });

  it("refuses what is too large for a message", async () => {
    assert.deepEqual(await tries(tooLarge, async () => new Map()), {
      outcome: ["payload_too_large", undefined],
      asked: 1,
      accepted: 0,
    });
  });

  it("refuses no request for the size of the message that it shares", async () => {
    const stored: number[] = [];
    const durable = makeStoring({
      stream: {
        async store(message) {
          const length = readAccepted(JSON.parse(Buffer.from(message).toString()))?.length ?? 0;
          if (length > 3) throw new MessageTooLargeError("of 3 events");
          stored.push(length);
        },
      },
      findKnownKeys: async () => new Map(),
      metrics: makeMetrics(),
    });
    const requests = [["a", "b"], ["c"], ["d", "e", "f", "g"], ["h", "i"], ["j"]];
    const outcomes = await Promise.allSettled(requests.map((tenants) => durable(eventsOf(...tenants))));
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.code : "stored")),
      ["stored", "stored", "payload_too_large", "stored", "stored"],
    );
    assert.equal(
      stored.reduce((sum, length) => sum + length, 0),
      6,
    );
  });

  it("puts no more than 256 KiB of requests into the message that they share", async () => {
    const sizes: number[] = [];
    const durable = makeStoring({
      stream: { store: async (message) => void sizes.push(message.byteLength) },
      findKnownKeys: async () => new Map(),
      metrics: makeMetrics(),
    });
    const text = "a".repeat(100_000);
    await Promise.all(Array.from({ length: 8 }, (_, n) => durable(given("acme", `key ${n}`, { text }))));
    assert.deepEqual(
      sizes.map((size) => Math.floor(size / 100_000)),
      [2, 2, 2, 2],
    );
  });

  it("refuses for now only what the stream did not take, where a message was divided", async (test) => {
    let nowMs = 1000;
    test.mock.method(performance, "now", () => nowMs);
    const durable = makeStoring({
      stream: {
        async store(message) {
          const events = readAccepted(JSON.parse(Buffer.from(message).toString())) ?? [];
          if (events.length > 1) throw new MessageTooLargeError("of 1 event");
          if (events[0]?.tenantId === "a") return;
          nowMs += 7000;
          throw new StreamUnavailableError("away");
        },
      },
      findKnownKeys: async () => new Map(),
      metrics: makeMetrics(),
    });
    // The first has a message alone; the others come meanwhile.
    const outcomes = await Promise.allSettled(
      [["a"], ["a"], ["b"]].map((tenants) => durable(eventsOf(...tenants))),
    );
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.code : "stored")),
      ["stored", "stored", "unavailable"],
    );
  });

  for (const [afterMs, asked] of [
    [6001, 1],
    [6000, 2],
  ] as const) {
    it(`refuses for now what the stream does not take, and not before six seconds: ${afterMs} ms`, async (test) => {
      let nowMs = 1000;
      test.mock.method(performance, "now", () => nowMs);
      const away = async () => {
        // The second try comes a second later.
        nowMs += nowMs === 1000 ? afterMs : 1000;
        throw new StreamUnavailableError("away");
      };
      const told = await tries(away, async () => new Map());
      assert.deepEqual(told, { outcome: ["unavailable", 2], asked, accepted: 0 });
    });
  }

  it("refuses for now what has waited for longer behind others, without asking a stream that is away for each", async (test) => {
    let nowMs = 1000;
    test.mock.method(performance, "now", () => nowMs);
    let asked = 0;
    const durable = makeStoring({
      stream: {
        store: async () => {
          asked++;
          nowMs += 3001;
          throw new StreamUnavailableError("away");
        },
      },
      findKnownKeys: async () => new Map(),
      metrics: makeMetrics(),
    });
    const data = { text: "x".repeat(200_000) };
    const request = () => checkEvents([{ type: "invoice.paid", data }], parseTenantId("acme"), catalog);
    // Each has a message of its own, and two are on their way at a time.
    const refused = Array.from({ length: 40 }, () => durable(request()).catch(({ code }) => code));
    assert.deepEqual([...new Set(await Promise.all(refused))], ["unavailable"]);
    assert.ok(asked <= 8, `asked ${asked} times`);
  });

  it("shares a message between requests where nobody divides them into lanes", async () => {
    let messages = 0;
    const durable = makeStoring({
      stream: { store: async () => void messages++ },
      findKnownKeys: async () => new Map(),
      metrics: makeMetrics(),
    });
    await Promise.all([durable(eventsOf("acme")), durable(eventsOf("globex"))]);
    assert.equal(messages, 1);
  });
});
