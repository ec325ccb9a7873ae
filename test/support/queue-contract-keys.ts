/**
 * The queue's contract on idempotency keys, and on events that are left for
 * another database. The queue in memory has no other databases, but keeps what
 * is left for them, because it must stay or vanish with the rest of its step.
 */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import {
  KeyReusedError,
  type AcceptedEvent,
  type DispatchQueue,
  type NewEvent,
} from "../../src/queue/queue.ts";
import {
  eventFor,
  eventIds,
  idsOf,
  newEndpointKey,
  PLENTY,
  UNLEASED,
  type QueueUnderTest,
} from "./queue-under-test.ts";
import type { EndpointKey } from "../../src/shared/id.ts";

const KEY = "order-1";

export function keyed(endpoint: EndpointKey, data: unknown, idempotencyKey = KEY): NewEvent {
  return { ...eventFor(endpoint), body: JSON.stringify({ data }), idempotencyKey };
}

/** As its producer sends it again. */
function repeated(event: NewEvent): NewEvent {
  return { ...event, id: eventFor({ tenantId: event.tenantId, endpointId: newEndpointKey().endpointId }).id };
}

const acceptedOf = ({ id }: NewEvent): AcceptedEvent => ({ id, dispatchCount: 1 });

export function describeKeys(open: () => Promise<QueueUnderTest>): void {
  describe("with idempotency keys", () => {
    let queue: DispatchQueue;
    let one: EndpointKey;
    let first: NewEvent;

    async function claimedIds() {
      return eventIds((await queue.claim(PLENTY, [])).claimed);
    }

    beforeEach(async () => {
      const test = await open();
      queue = test.queue;
      one = newEndpointKey();
      await test.addEndpoint(one);
      first = keyed(one, { total: 1, currency: "EUR" });
      await queue.accept([first], UNLEASED);
    });

    it("accepts a key once, and finds what it stands for, with the same content or other", async () => {
      const same = { ...repeated(first), body: `{"data":{"currency":"EUR", "total":1},"id":2}` };
      const other = keyed(one, { total: 2 });
      const otherType = { ...repeated(first), type: "invoice.sent" };
      const again = [same, other, otherType];
      assert.deepEqual((await queue.accept(again, UNLEASED)).accepted, []);
      const earlier = { ...acceptedOf(first), sameContent: false };
      assert.deepEqual(
        await queue.findEarlier(again),
        new Map([
          [same.id, { ...earlier, sameContent: true }],
          [other.id, earlier],
          [otherType.id, earlier],
        ]),
      );
      assert.deepEqual(await claimedIds(), [first.id]);
    });

    it("finds nothing for a key that is free, for another tenant's, or without one", async () => {
      const free = keyed(one, {}, "order-2");
      const othersTenants = { ...repeated(first), tenantId: newEndpointKey("globex").tenantId };
      const unkeyed = { ...repeated(first), idempotencyKey: null };
      assert.deepEqual(await queue.findEarlier([free, othersTenants, unkeyed]), new Map());
      const events = [free, othersTenants];
      const { accepted } = await queue.accept(events, UNLEASED);
      assert.deepEqual(new Set(accepted.map(({ id }) => id)), new Set(idsOf(events)));
    });

    it("accepts the first of several with one key", async () => {
      const several = [1, 2, 3].map((total) => keyed(one, { total }, "order-2"));
      const [winner] = several;
      assert.ok(winner !== undefined);
      assert.deepEqual((await queue.accept(several, UNLEASED)).accepted, [acceptedOf(winner)]);
      const earlier = await queue.findEarlier(several);
      assert.deepEqual(
        several.map(({ id }) => earlier.get(id)?.sameContent),
        [true, false, false],
      );
    });

    it("accepts the rest of an array whose other events were accepted before, and answers what those are", async () => {
      const [again, fresh] = [repeated(first), keyed(one, {}, "order-2")];
      assert.deepEqual(await queue.acceptParts([[again], [fresh]], { parked: [] }), {
        accepted: [acceptedOf(fresh)],
        unleased: [one.endpointId],
        parked: [],
        earlier: new Map([[again.id, { ...acceptedOf(first), sameContent: true }]]),
      });
      assert.deepEqual(await claimedIds(), [first.id, fresh.id]);
    });

    it("accepts nothing of an array in which a key was used for other content, nor leaves anything for other databases", async () => {
      const fresh = keyed(one, {}, "order-2");
      const reused = keyed(one, { total: 2 });
      const plain = eventFor(one);
      await assert.rejects(
        queue.acceptParts([[fresh, plain], [reused]], { parked: [], handOver: [eventFor(one)] }),
        KeyReusedError,
      );
      assert.deepEqual(await queue.findKnown([fresh, plain, reused]), new Set());
      assert.deepEqual(await queue.findEarlier([fresh]), new Map());
      assert.equal((await queue.measure()).handoversWaiting, 0);
      assert.deepEqual(await claimedIds(), [first.id]);
      assert.deepEqual((await queue.accept([fresh], UNLEASED)).accepted, [acceptedOf(fresh)]);
    });

    it("refuses an array that uses one key for two contents", async () => {
      const twice = [keyed(one, { total: 1 }, "order-2"), keyed(one, { total: 2 }, "order-2")];
      await assert.rejects(queue.acceptParts([twice], { parked: [] }), KeyReusedError);
      assert.deepEqual(await queue.findKnown(twice), new Set());
    });

    it("leaves events for other databases in the same step, and dispatches none of them here", async () => {
      const here = keyed(one, {}, "order-2");
      const elsewhere = [eventFor(one), eventFor(one)];
      const { accepted } = await queue.acceptParts([[here]], { parked: [], handOver: elsewhere });
      assert.deepEqual(accepted, [acceptedOf(here)]);
      assert.equal((await queue.measure()).handoversWaiting, 2);
      assert.deepEqual(await queue.findKnown(elsewhere), new Set());
      assert.deepEqual(await claimedIds(), [first.id, here.id]);
    });
  });
}
