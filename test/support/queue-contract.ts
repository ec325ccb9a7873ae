/** What every queue behind the port must do, whatever holds its rows. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { DispatchQueue, NewEvent, OutboxEvent } from "../../src/queue/queue.ts";
import { ALL_SLOTS, slotOf, SlotSet } from "../../src/queue/slots.ts";
import type { EndpointKey } from "../../src/shared/id.ts";
import { describeClaims } from "./queue-contract-claims.ts";
import { describeKeys } from "./queue-contract-keys.ts";
import { describeLocks } from "./queue-contract-locks.ts";
import {
  eventFor,
  eventIds,
  idsOf,
  newEndpointKey,
  outcomeOf,
  PLENTY,
  type QueueLocks,
  type QueueUnderTest,
} from "./queue-under-test.ts";

/** Without `locks` there is nothing that a transaction beside the queue could hold. */
export function describeQueueContract(
  name: string,
  open: () => Promise<QueueUnderTest>,
  locks: QueueLocks | null,
): void {
  describe(`a queue ${name}`, () => {
    let test: QueueUnderTest;
    let queue: DispatchQueue;
    let one: EndpointKey;
    let other: EndpointKey;

    async function addEndpoint(): Promise<EndpointKey> {
      const key = newEndpointKey();
      await test.addEndpoint(key);
      return key;
    }

    /** Events for these endpoints, accepted one after another. */
    async function accept(
      to: readonly EndpointKey[],
      options: { lease: SlotSet | null; parked: EndpointKey[] } = { lease: null, parked: [] },
    ) {
      const accepted = [];
      for (const { tenantId, endpointId } of to) {
        const event = eventFor({ tenantId, endpointId });
        const parked = options.parked.map((key) => key.endpointId);
        accepted.push({ event, acceptance: await queue.accept([event], { lease: options.lease, parked }) });
      }
      return accepted;
    }

    async function acceptIds(to: readonly EndpointKey[], options?: Parameters<typeof accept>[1]) {
      return (await accept(to, options)).map(({ event }) => event.id);
    }

    beforeEach(async () => {
      test = await open();
      queue = test.queue;
      one = await addEndpoint();
      other = await addEndpoint();
      while (slotOf(other.endpointId) === slotOf(one.endpointId)) other = await addEndpoint();
    });

    it("leases what it accepts to the process that asked for it, and to nobody else", async () => {
      const [accepted] = await accept([one], { lease: ALL_SLOTS, parked: [] });
      assert.ok(accepted !== undefined);
      assert.deepEqual(eventIds(accepted.acceptance.leased), [accepted.event.id]);
      assert.deepEqual(accepted.acceptance.accepted, [{ id: accepted.event.id, dispatchCount: 1 }]);
      assert.deepEqual((await queue.claim(PLENTY, [])).claimed, []);
      await test.endLeases();
      assert.deepEqual(eventIds((await queue.claim(PLENTY, [])).claimed), [accepted.event.id]);
    });

    it("leases and claims in the slots that are asked for, and in no others", async () => {
      const own = new SlotSet([slotOf(one.endpointId)]);
      assert.notEqual(slotOf(other.endpointId), slotOf(one.endpointId));
      const accepted = await accept([one, other, one], { lease: own, parked: [] });
      const ids = accepted.map(({ event }) => event.id);
      const leased = accepted.flatMap(({ acceptance }) => acceptance.leased);
      assert.deepEqual(eventIds(leased), [ids[0], ids[2]]);
      assert.deepEqual(eventIds((await queue.claim(PLENTY, [], own)).claimed), []);
      assert.deepEqual(eventIds((await queue.claim(PLENTY, [])).claimed), [ids[1]]);
    });

    it("claims what is released before what is younger", async () => {
      const early = await accept([one], { lease: ALL_SLOTS, parked: [] });
      const [late] = await acceptIds([one]);
      await queue.release(early[0]?.acceptance.leased ?? [], "claimable");
      assert.deepEqual(eventIds((await queue.claim(PLENTY, [])).claimed), [early[0]?.event.id, late]);
    });

    it("keeps the order of an array, leased, claimed or pulled", async () => {
      const many = Array.from({ length: 50 }, () => eventFor(one));
      const ids = many.map(({ id }) => id);
      const { leased } = await queue.accept(many, { lease: ALL_SLOTS, parked: [] });
      assert.deepEqual(eventIds(leased), ids);
      await queue.release(leased, "claimable");
      const { claimed } = await queue.claim(PLENTY, []);
      assert.deepEqual(eventIds(claimed), ids);
      await queue.release(claimed.toReversed(), "parked");
      const pulled = await queue.pull([{ ...one, dispatches: 100, bodyBytes: 1e6 }]);
      assert.deepEqual(eventIds(pulled.get(one.endpointId)?.claimed ?? []), ids);
    });

    it("claims the longest due first, and each dispatch once", async () => {
      const ids = await acceptIds([one, other, one, other]);
      const first = await queue.claim({ ...PLENTY, dispatches: 3 }, []);
      assert.deepEqual([eventIds(first.claimed), first.isAll], [ids.slice(0, 3), false]);
      const rest = await queue.claim(PLENTY, []);
      assert.deepEqual([eventIds(rest.claimed), rest.isAll], [ids.slice(3), true]);
    });

    it("parks what is due of an endpoint, out of reach of claims, and finds it again", async () => {
      await acceptIds([one, one, other]);
      assert.deepEqual(await queue.findBacklogs(), []);
      assert.equal(await queue.park([one.endpointId]), true);
      assert.deepEqual(await queue.findBacklogs(), [one]);
      const found = await queue.claim(PLENTY, []);
      assert.deepEqual(
        found.claimed.map(({ endpointId }) => endpointId),
        [other.endpointId],
      );
    });

    it("parks what is due of an endpoint by itself, and nothing of others or that is leased", async () => {
      const ids = await acceptIds([one, other, one]);
      await accept([one], { lease: ALL_SLOTS, parked: [] });
      await queue.parkOldest([one]);
      const found = await queue.claim(PLENTY, []);
      assert.deepEqual(eventIds(found.claimed), [ids[1]]);
      const pulls = await queue.pull([{ ...one, dispatches: 10, bodyBytes: 1e6 }]);
      const pulled = pulls.get(one.endpointId);
      assert.deepEqual([eventIds(pulled?.claimed ?? []), pulled?.isAll], [[ids[0], ids[2]], true]);
    });

    it("parks nothing that is leased", async () => {
      await accept([one], { lease: ALL_SLOTS, parked: [] });
      await queue.park([one.endpointId]);
      assert.deepEqual(await queue.findBacklogs(), []);
    });

    it("accepts for a backlogged endpoint behind what is parked, and says so", async () => {
      const [accepted] = await accept([one], { lease: ALL_SLOTS, parked: [one] });
      assert.deepEqual(accepted?.acceptance.leased, []);
      assert.deepEqual(accepted?.acceptance.parked, [one]);
      assert.deepEqual(await queue.findBacklogs(), [one]);
    });

    it("says at which endpoints nobody leased what it accepted", async () => {
      const own = new SlotSet([slotOf(one.endpointId)]);
      const places = [
        { options: { lease: ALL_SLOTS, parked: [] }, unleased: [] },
        { options: { lease: own, parked: [] }, unleased: [other.endpointId] },
        { options: { lease: null, parked: [one.endpointId] }, unleased: [other.endpointId] },
      ];
      for (const { options, unleased } of places) {
        const events = [eventFor(one), eventFor(other)];
        assert.deepEqual((await queue.accept(events, options)).unleased, unleased);
      }
      const parts = [one, other, other].map((endpoint) => [eventFor(endpoint)]);
      const { unleased } = await queue.acceptParts(parts, { parked: [one.endpointId] });
      assert.deepEqual(unleased, [other.endpointId]);
    });

    it("finds the endpoints of some slots that have due dispatches which nobody leased", async () => {
      await acceptIds([one, one, other]);
      assert.deepEqual(await queue.findDue(new SlotSet([slotOf(one.endpointId)])), [one.endpointId]);
      const { claimed } = await queue.claim(PLENTY, []);
      assert.deepEqual(await queue.findDue(ALL_SLOTS), []);
      await queue.release(claimed.slice(0, 1), "parked");
      assert.deepEqual(await queue.findDue(ALL_SLOTS), []);
      await test.endLeases();
      assert.deepEqual(new Set(await queue.findDue(ALL_SLOTS)), new Set([one.endpointId, other.endpointId]));
    });

    it("pulls what is parked, the oldest first and as much as each endpoint asks for", async () => {
      const ids = await acceptIds([one, one, one, other, other], { lease: null, parked: [one, other] });
      const asks = [
        { ...one, dispatches: 2, bodyBytes: 1e6 },
        { ...other, dispatches: 5, bodyBytes: 1 },
      ];
      const first = await queue.pull(asks);
      const [ofOne, ofOther] = [first.get(one.endpointId), first.get(other.endpointId)];
      assert.deepEqual([eventIds(ofOne?.claimed ?? []), ofOne?.isAll], [ids.slice(0, 2), false]);
      assert.deepEqual([eventIds(ofOther?.claimed ?? []), ofOther?.isAll], [ids.slice(3, 4), false]);
      const rest = await queue.pull([{ ...one, dispatches: 5, bodyBytes: 1e6 }]);
      assert.deepEqual(eventIds(rest.get(one.endpointId)?.claimed ?? []), ids.slice(2, 3));
      assert.equal(rest.get(one.endpointId)?.isAll, true);
      assert.deepEqual(await queue.findBacklogs(), [other]);
    });

    it("takes back what is released: to be claimed at once, or parked in its old place", async () => {
      const ids = await acceptIds([one, one]);
      const { claimed } = await queue.claim(PLENTY, []);
      await queue.release(claimed.slice(0, 1), "claimable");
      assert.deepEqual(eventIds((await queue.claim(PLENTY, [])).claimed), ids.slice(0, 1));
      await acceptIds([one], { lease: null, parked: [one] });
      await queue.release(claimed.slice(1), "parked");
      const pulled = await queue.pull([{ ...one, dispatches: 1, bodyBytes: 1 }]);
      assert.deepEqual(eventIds(pulled.get(one.endpointId)?.claimed ?? []), ids.slice(1));
    });

    it("completes only what the claim still has, and once", async () => {
      await acceptIds([one]);
      const [early] = (await queue.claim(PLENTY, [])).claimed;
      await test.endLeases();
      const [late] = (await queue.claim(PLENTY, [])).claimed;
      assert.ok(early !== undefined && late !== undefined);
      await queue.release([early], "parked");
      await queue.defer(early);
      assert.deepEqual(await queue.hold([early], "wait"), new Set());
      assert.deepEqual(await queue.complete([outcomeOf(early, null)], "wait"), new Set());
      assert.deepEqual(await queue.complete([outcomeOf(late, null)], "wait"), new Set([late.id]));
      assert.deepEqual(await queue.complete([outcomeOf(late, null)], "wait"), new Set());
      await test.endLeases();
      assert.deepEqual((await queue.claim(PLENTY, [])).claimed, []);
    });

    it("puts a deferred dispatch out of reach of claims and of its old lease", async () => {
      await acceptIds([one]);
      const [claimed] = (await queue.claim(PLENTY, [])).claimed;
      assert.ok(claimed !== undefined);
      await queue.defer(claimed);
      assert.deepEqual((await queue.claim(PLENTY, [])).claimed, []);
      assert.deepEqual(await queue.complete([outcomeOf(claimed, null)], "wait"), new Set());
      const { due, leased, scheduled } = await queue.measure();
      assert.deepEqual([due, leased, scheduled], [0, 0, 1]);
    });

    it("makes the next attempt due when its time comes, with the event's own bytes", async () => {
      const [id] = await acceptIds([one]);
      const [first] = (await queue.claim(PLENTY, [])).claimed;
      assert.ok(first !== undefined);
      await queue.complete([outcomeOf(first, 0)], "wait");
      const [second] = (await queue.claim(PLENTY, [])).claimed;
      assert.deepEqual([second?.eventId, second?.attempt, second?.body], [id, 2, first.body]);
      assert.ok(second !== undefined && second.id !== first.id);
      await queue.complete([outcomeOf(second, 3_600_000)], "wait");
      assert.deepEqual((await queue.claim(PLENTY, [])).claimed, []);
    });

    it("gives each attempt of an event its traceparent, and those of others none", async () => {
      const traced = { ...eventFor(one), traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` };
      const events = [traced, eventFor(one)];
      const { leased } = await queue.accept(events, { lease: ALL_SLOTS, parked: [] });
      assert.deepEqual(
        leased.map(({ traceparent }) => traceparent),
        [traced.traceparent, undefined],
      );
      await queue.complete(
        leased.map((dispatch) => outcomeOf(dispatch, 0)),
        "wait",
      );
      const { claimed } = await queue.claim(PLENTY, []);
      assert.deepEqual(
        new Map(claimed.map(({ eventId, traceparent }) => [eventId, traceparent])),
        new Map(events.map(({ id }, index) => [id, index === 0 ? traced.traceparent : undefined])),
      );
    });

    it("accepts all parts of an array, in its order", async () => {
      const events = [eventFor(one), eventFor(other), eventFor(one)];
      const { accepted, earlier } = await queue.acceptParts([events.slice(0, 1), events.slice(1)], {
        parked: [],
      });
      assert.deepEqual(
        accepted,
        events.map(({ id }) => ({ id, dispatchCount: 1 })),
      );
      assert.equal(earlier.size, 0);
      assert.deepEqual(
        eventIds((await queue.claim(PLENTY, [])).claimed),
        events.map(({ id }) => id),
      );
    });

    it("knows the events that it accepted, and no others", async () => {
      const events = [eventFor(one), eventFor(other)];
      await queue.accept(events, { lease: null, parked: [] });
      const known = await queue.findKnown([...events, eventFor(one)]);
      assert.deepEqual([...known].sort(), events.map(({ id }) => id).sort());
    });

    describe("with events in its outbox", () => {
      const limits = { events: 100, bodyBytes: 1e6 };
      const types = ["invoice.paid"];
      let events: NewEvent[];

      beforeEach(async () => {
        events = [eventFor(one), eventFor(one), eventFor(one)];
        for (const { id, tenantId, type, body } of events) {
          await test.addToOutbox({ id, tenantId, type, body });
        }
      });

      const judge = ({ id }: OutboxEvent) => events.filter((event) => event.id === id);

      it("relays each once, in their order, within its limits", async () => {
        const few = { types, judge, limits: { events: 2, bodyBytes: 1e6 } };
        assert.deepEqual(await queue.relay(few), { relayed: 2, mayHaveMore: true });
        const oneByte = { types, judge, limits: { events: 2, bodyBytes: 1 } };
        assert.deepEqual(await queue.relay(oneByte), { relayed: 1, mayHaveMore: false });
        assert.deepEqual(await queue.relay(few), { relayed: 0, mayHaveMore: false });
        assert.deepEqual(eventIds((await queue.claim(PLENTY, [])).claimed), idsOf(events));
      });

      it("drops what is judged unfit, and leaves unknown types to other workers", async () => {
        const [first] = events;
        assert.deepEqual(await queue.relay({ types: ["a.b"], judge, limits }), {
          relayed: 0,
          mayHaveMore: false,
        });
        assert.equal((await queue.measure()).outboxWaiting, 3);
        await queue.relay({
          types,
          limits,
          judge: (event) => (event.id === first?.id ? [] : judge(event)),
        });
        assert.equal((await queue.measure()).outboxWaiting, 0);
        assert.deepEqual(eventIds((await queue.claim(PLENTY, [])).claimed), idsOf(events.slice(1)));
      });
    });

    it("holds the dispatches of an endpoint that is disabled, and makes them claimable once it is enabled", async () => {
      const ids = await acceptIds([one, one, other]);
      await queue.park([one.endpointId]);
      await test.changeEndpoint(one, "disabled");
      await queue.endpointChanged(one);
      assert.deepEqual(eventIds((await queue.claim(PLENTY, [])).claimed), ids.slice(2));
      assert.deepEqual(await queue.findBacklogs(), []);
      assert.equal((await queue.measure()).held, 2);
      await test.changeEndpoint(one, "enabled");
      await queue.endpointChanged(one);
      const pulled = await queue.pull([{ ...one, dispatches: 100, bodyBytes: 1e6 }]);
      assert.deepEqual(eventIds(pulled.get(one.endpointId)?.claimed ?? []), ids.slice(0, 2));
    });

    it("holds what comes back of an endpoint that was disabled meanwhile", async () => {
      await acceptIds([one]);
      const { claimed } = await queue.claim(PLENTY, []);
      await test.changeEndpoint(one, "disabled");
      await queue.endpointChanged(one);
      assert.equal((await queue.measure()).leased, 1);
      assert.equal((await queue.hold(claimed, "wait")).size, 1);
      assert.equal((await queue.measure()).held, 1);
      await test.changeEndpoint(one, "enabled");
      await queue.endpointChanged(one);
      assert.equal((await queue.claim(PLENTY, [])).claimed.length, 1);
    });

    it("goes by the endpoint's present state, however late it hears of a change", async () => {
      const ids = await acceptIds([one]);
      await test.changeEndpoint(one, "disabled");
      await test.changeEndpoint(one, "enabled");
      await queue.endpointChanged(one);
      assert.deepEqual(eventIds((await queue.claim(PLENTY, [])).claimed), ids);
    });

    it("ends the dispatches of a deleted endpoint, those in flight too", async () => {
      await acceptIds([one, one, other]);
      const { claimed } = await queue.claim({ ...PLENTY, dispatches: 1 }, []);
      await test.changeEndpoint(one, "deleted");
      await queue.endpointChanged(one);
      const [inFlight] = claimed;
      assert.ok(inFlight !== undefined);
      assert.deepEqual(await queue.complete([outcomeOf(inFlight, 0)], "wait"), new Set());
      const { due, leased, parked, scheduled, held } = await queue.measure();
      assert.deepEqual([due, leased, parked, scheduled, held], [1, 0, 0, 0, 0]);
    });

    for (const change of ["disabled", "deleted"] as const) {
      it(`accepts nothing for an endpoint that is ${change}`, async () => {
        await test.changeEndpoint(one, change);
        const [accepted] = await accept([one]);
        assert.deepEqual(accepted?.acceptance.accepted, [{ id: accepted?.event.id, dispatchCount: 0 }]);
      });
    }

    describeKeys(open);
    describeClaims(open);
    if (locks !== null) describeLocks(open, locks);
  });
}
