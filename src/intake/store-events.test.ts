import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openCatalog } from "../events/live-catalog.ts";
import { checkEvents } from "../events/checked-events.ts";
import { parseTenantId } from "../shared/id.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { readAccepted } from "./accepted-message.ts";
import { makeStoring } from "./store-events.ts";

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
