import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { openCatalog } from "../events/live-catalog.ts";
import { checkEvents } from "../events/checked-events.ts";
import type { EarlierEvent, NewEvent } from "../queue/queue.ts";
import { systemClock } from "../shared/clock.ts";
import { newEventId, parseTenantId, type EventId } from "../shared/id.ts";
import { makeKnownKeys } from "./known-keys.ts";

const catalog = (await openCatalog(undefined)).current();
const [plain, keyed, other] = checkEvents(
  [
    { type: "invoice.paid", data: {} },
    { type: "invoice.paid", data: {}, id: "one" },
    { type: "invoice.paid", data: {}, id: "two" },
  ],
  parseTenantId("acme"),
  catalog,
);
assert.ok(plain !== undefined && keyed !== undefined && other !== undefined);
const earlier: EarlierEvent = { id: newEventId(), dispatchCount: 2, sameContent: true };

/** Key look-ups that answer so, and how often they were asked; on a clock that moves only by hand. */
function keysOver(answer: (events: readonly NewEvent[]) => Promise<Map<EventId, EarlierEvent>>) {
  let nowMs = 0;
  let asked = 0;
  const findEarlier = (events: readonly NewEvent[]) => {
    asked++;
    return answer(events);
  };
  const find = makeKnownKeys({ findEarlier }, { ...systemClock, nowMs: () => nowMs });
  return { find, asked: () => asked, move: (ms: number) => (nowMs += ms) };
}

describe("what is known of idempotency keys", () => {
  it("is asked for events that have one, and for no others", async () => {
    const keys = keysOver(async () => new Map([[keyed.id, earlier]]));
    assert.deepEqual(await keys.find([plain]), new Map());
    assert.equal(keys.asked(), 0);
    assert.deepEqual(await keys.find([plain, keyed, other]), new Map([[keyed.id, earlier]]));
  });

  it("is nothing while the database is away, which is asked again only after a pause", async () => {
    const keys = keysOver(() => Promise.reject(new Error("away")));
    assert.deepEqual(await keys.find([keyed]), new Map());
    keys.move(1999);
    await keys.find([keyed]);
    assert.equal(keys.asked(), 1);
    keys.move(1);
    await keys.find([keyed]);
    assert.equal(keys.asked(), 2);
  });

  it("is nothing when the database is silent", async () => {
    const keys = keysOver(() => new Promise(() => undefined));
    assert.deepEqual(await keys.find([keyed]), new Map());
  });

  it("is not asked for while the database is silent on an earlier look, whose events are held", async () => {
    const silence = Promise.withResolvers<Map<EventId, EarlierEvent>>();
    const keys = keysOver(() => silence.promise);
    await keys.find([keyed]);
    keys.move(60_000);
    assert.deepEqual(await keys.find([other]), new Map());
    silence.resolve(new Map([[keyed.id, earlier]]));
    await silence.promise;
    await setImmediate();
    assert.equal(keys.asked(), 1);
    assert.deepEqual(await keys.find([keyed]), new Map([[keyed.id, earlier]]));
    assert.equal(keys.asked(), 2);
  });
});
