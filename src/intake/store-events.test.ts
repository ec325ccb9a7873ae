import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openCatalog } from "../events/live-catalog.ts";
import { checkEvents } from "../events/checked-events.ts";
import { newEventId, parseTenantId } from "../shared/id.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { readAccepted } from "./accepted-message.ts";
import { makeStoring } from "./store-events.ts";
import { StreamUnavailableError } from "./stream.ts";

const catalog = (await openCatalog(undefined)).current();
const eventsOf = (...tenants: string[]) =>
  tenants.flatMap((tenant) =>
    checkEvents([{ type: "invoice.paid", data: {} }], parseTenantId(tenant), catalog),
  );

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
  it("puts those of one lane into one message, and those of others into others", async () => {
    assert.deepEqual(await messagesOf(["a1"], ["b1"], ["a2"], ["b2", "a3"]), [
      ["a1", "a2"],
      ["b1", "b2", "a3"],
    ]);
  });
});

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
});
