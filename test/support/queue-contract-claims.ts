/** The part of the queue's contract that is about what a claim takes of all that is due. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { DispatchQueue, NewEvent } from "../../src/queue/queue.ts";
import type { EndpointKey } from "../../src/shared/id.ts";
import {
  eventFor,
  eventIds,
  idsOf,
  newEndpointKey,
  UNLEASED,
  type QueueUnderTest,
} from "./queue-under-test.ts";

const sized = (to: EndpointKey, size: number): NewEvent => ({ ...eventFor(to), body: "x".repeat(size) });

export function describeClaims(open: () => Promise<QueueUnderTest>): void {
  describe("when more is due than it may take", () => {
    let queue: DispatchQueue;
    let one: EndpointKey;
    let other: EndpointKey;
    let late: EndpointKey;

    beforeEach(async () => {
      const test = await open();
      queue = test.queue;
      [one, other, late] = [newEndpointKey("acme"), newEndpointKey("globex"), newEndpointKey("initech")];
      for (const endpoint of [one, other, late]) await test.addEndpoint(endpoint);
    });

    async function accept(to: readonly EndpointKey[]): Promise<NewEvent[]> {
      const events = to.map((endpoint) => eventFor(endpoint));
      for (const event of events) await queue.accept([event], UNLEASED);
      return events;
    }

    /** The claimed events, and whether no more are due. */
    async function claim(dispatches: number, without: readonly EndpointKey[] = [], bodyBytes = 1e6) {
      const endpoints = without.map(({ endpointId }) => endpointId);
      const { claimed, isAll } = await queue.claim({ dispatches, bodyBytes }, endpoints);
      return [eventIds(claimed), isAll];
    }

    it("claims no more bytes than it is allowed, but one body however large", async () => {
      const ids = idsOf(await accept([one, one, one]));
      assert.deepEqual(await claim(9, [], 250), [ids.slice(0, 2), false]);
      assert.deepEqual(await claim(9, [], 1), [ids.slice(2), true]);
    });

    it("claims nothing of the endpoints that it is to pass over, and reaches the others behind them", async () => {
      const ids = idsOf(await accept([one, one, late]));
      assert.deepEqual(await claim(2, [one]), [ids.slice(2), true]);
    });

    it("claims by tenants in turn after a claim that left some, until a claim leaves none", async () => {
      const ids = idsOf(await accept([...Array.from({ length: 8 }, () => one), other, other, other, late]));
      const idsAt = (...places: number[]) => places.map((place) => ids[place]);
      assert.deepEqual(await claim(2), [idsAt(0, 1), false]);
      assert.deepEqual(await claim(3, [other]), [idsAt(2, 3, 11), false]);
      assert.deepEqual(await claim(4), [idsAt(4, 5, 8, 9), false]);
      assert.deepEqual(await claim(100), [idsAt(6, 7, 10), true]);
      const more = idsOf(await accept([one, one, other]));
      assert.deepEqual(await claim(2), [more.slice(0, 2), false]);
    });

    it("claims a small one of another tenant before large ones, after a claim that left some", async () => {
      const large = [one, one, one, late].map((to) => sized(to, 200));
      const small = eventFor(other);
      for (const event of [...large, small]) await queue.accept([event], UNLEASED);
      assert.deepEqual(await claim(9, [], 300), [idsOf(large.slice(0, 1)), false]);
      assert.deepEqual(await claim(9, [], 300), [idsOf([...large.slice(1, 2), small]), false]);
      assert.deepEqual(await claim(9, [], 300), [idsOf(large.slice(2, 3)), false]);
    });

    it("claims the longest due however large, or it would wait for as long as others have small ones", async () => {
      const first = eventFor(one);
      const large = sized(late, 250);
      const small = [one, other, one, other].map((endpoint) => eventFor(endpoint));
      for (const event of [first, large, ...small]) await queue.accept([event], UNLEASED);
      assert.deepEqual(await claim(1), [idsOf([first]), false]);
      assert.deepEqual(await claim(9, [], 300), [idsOf([large]), false]);
    });
  });
}
