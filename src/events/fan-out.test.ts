import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NewEvent } from "../queue/queue.ts";
import { newEventId, parseTenantId } from "../shared/id.ts";
import { FanOut, ROWS_AT_ONCE } from "./fan-out.ts";

function eventsOf(tenant: string, count: number): NewEvent[] {
  const tenantId = parseTenantId(tenant);
  assert.ok(tenantId !== null);
  const same = {
    tenantId,
    type: "a.b",
    patterns: ["*"],
    version: 1,
    body: "{}",
    others: null,
    idempotencyKey: null,
  };
  return Array.from({ length: count }, () => ({ id: newEventId(), ...same }));
}

const counted = (events: readonly NewEvent[], dispatchCount: number) =>
  new Map(events.map(({ id }) => [id, { id, dispatchCount }]));

describe("parts of a fan-out", () => {
  it("are small while nothing is known of a tenant, and keep every event in its order", () => {
    const events = eventsOf("acme", 1000);
    const parts = new FanOut().parts(events);
    assert.deepEqual(parts.flat(), events);
    assert.ok(parts.every((part) => part.length * 101 <= ROWS_AT_ONCE));
  });

  it("are as large as its endpoints allow from then on", () => {
    const fanOut = new FanOut();
    const events = eventsOf("acme", 1000);
    fanOut.note(events, counted(events, 2));
    assert.deepEqual([fanOut.parts(events).length, fanOut.isWide(events)], [1, false]);
    fanOut.note(events.slice(0, 2), counted(events.slice(0, 2), 99));
    assert.deepEqual([fanOut.parts(events).length, fanOut.isWide(events)], [20, true]);
    assert.deepEqual(
      [50, 51].map((count) => fanOut.isWide(events.slice(0, count))),
      [false, true],
    );
    assert.ok(fanOut.parts(eventsOf("globex", 1000)).length > 1, "another tenant's own");
  });

  it("are one event where one alone makes too many", () => {
    const fanOut = new FanOut();
    const events = eventsOf("acme", 3);
    fanOut.note(events, counted(events, 2 * ROWS_AT_ONCE));
    assert.deepEqual(
      fanOut.parts(events).map((part) => part.length),
      [1, 1, 1],
    );
    assert.deepEqual(fanOut.parts([]), []);
  });
});
