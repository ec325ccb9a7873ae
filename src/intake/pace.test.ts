import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makePace, roomOf, type Pace } from "./pace.ts";

const none = { messages: 0, bytes: 0 };
const MIB = 1024 * 1024;
const alone = () => makePace({ sharers: 1, isAway: () => false });
const oneOfTwo = (isAway = () => false) => makePace({ sharers: 2, isAway });

/** So many messages of these bytes wait for the database. */
function enter(pace: Pace, messages: number, { bytes = 1, at = 0 } = {}): void {
  for (let n = 0; n < messages; n++) pace.enter(bytes, at);
}

describe("the pace of a worker", () => {
  it("takes some messages at once, up to its limits", () => {
    const paces = [alone()];
    assert.equal(roomOf(none, paces, 0), 32);
    assert.equal(roomOf({ messages: 250, bytes: 0 }, paces, 0), 6);
    assert.equal(roomOf({ messages: 256, bytes: 0 }, paces, 0), 0);
    assert.equal(roomOf({ messages: 1, bytes: 8 * MIB }, paces, 0), 0);
  });

  it("takes none for a pause when the database is away, and then one to find out", () => {
    const pace = alone();
    assert.equal(pace.failed(1000), true);
    assert.equal(roomOf(none, [pace], 1099), 0);
    assert.equal(roomOf(none, [pace], 1100), 1);
    assert.equal(roomOf({ messages: 1, bytes: 10 }, [pace], 1100), 0);
  });

  it("pauses twice as long after each failure, up to five seconds", () => {
    const pace = alone();
    const pauses: number[] = [];
    let now = 0;
    for (let failure = 0; failure < 9; failure++) {
      assert.equal(pace.failed(now), failure === 0);
      const began = now;
      while (roomOf(none, [pace], now) === 0) now += 100;
      pauses.push(now - began);
    }
    assert.deepEqual(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
  });

  it("counts messages that fail together as one failure", () => {
    const pace = alone();
    pace.failed(0);
    for (let n = 0; n < 100; n++) assert.equal(pace.failed(50), false);
    assert.equal(roomOf(none, [pace], 100), 1);
  });

  it("takes as before after a success", () => {
    const pace = alone();
    pace.failed(0);
    pace.succeeded();
    assert.equal(roomOf(none, [pace], 1), 32);
    assert.equal(pace.failed(2), true);
  });

  it("takes nothing beyond its limits from a database that is alone and silent", () => {
    const pace = alone();
    enter(pace, 256);
    for (const now of [0, 1001, 60_000]) assert.equal(roomOf({ messages: 256, bytes: 256 }, [pace], now), 0);
  });
});

describe("the paces of two shards", () => {
  it("are each their own: one that fails takes no room from the other", () => {
    const paces = [oneOfTwo(), oneOfTwo()] as const;
    enter(paces[0], 100);
    assert.equal(roomOf({ messages: 256, bytes: 256 }, paces, 0), 0);
    paces[0].failed(0);
    assert.equal(roomOf({ messages: 256, bytes: 256 }, paces, 0), 32);
    assert.equal(roomOf({ messages: 1, bytes: 9 * MIB }, paces, 0), 0);
    assert.deepEqual(
      paces.map((pace) => pace.free(50)),
      [0, Infinity],
    );
  });

  it("let a single message into a shard that fails, once its pause is over and none is tried there", () => {
    const pace = oneOfTwo();
    enter(pace, 1);
    pace.failed(0);
    assert.equal(pace.free(100), 0);
    pace.leave(1);
    assert.deepEqual([pace.free(99), pace.free(100)], [0, 1]);
    enter(pace, 1);
    assert.equal(pace.free(100), 0);
    pace.succeeded();
    assert.equal(pace.free(111), Infinity);
  });

  it("let nothing into a shard that is known to be away, also behind its pause", () => {
    let isAway = true;
    const pace = oneOfTwo(() => isAway);
    assert.deepEqual([pace.state(0), pace.free(0)], ["failing", 0]);
    assert.equal(roomOf(none, [pace, oneOfTwo(() => true)], 0), 0);
    isAway = false;
    assert.deepEqual([pace.state(0), pace.free(0)], ["open", Infinity]);
    pace.failed(0);
    isAway = true;
    assert.equal(pace.free(60_000), 0);
  });

  it("take one message at a time when all fail, as one database does", () => {
    const paces = [oneOfTwo(), oneOfTwo()] as const;
    paces[0].failed(0);
    paces[1].failed(50);
    assert.equal(roomOf(none, paces, 99), 0);
    assert.equal(roomOf(none, paces, 100), 1);
    // It is read, and nobody knows yet whose it is.
    assert.equal(roomOf({ messages: 1, bytes: 1 }, paces, 100), 0);
    enter(paces[0], 1);
    assert.equal(roomOf({ messages: 1, bytes: 1 }, paces, 100), 0);
    assert.equal(roomOf({ messages: 1, bytes: 1 }, paces, 150), 1);
  });

  for (const [what, messages, bytes] of [
    ["messages", 128, 1],
    ["bytes", 2, 2 * MIB],
  ] as const) {
    it(`fill a shard whose share of ${what} has been taken for a second, until half of it is free`, () => {
      const pace = oneOfTwo();
      enter(pace, messages - 1, { bytes });
      assert.equal(pace.state(5000), "open");
      enter(pace, 1, { bytes, at: 5000 });
      // More comes and goes meanwhile.
      enter(pace, 1, { bytes, at: 5999 });
      pace.leave(bytes);
      assert.deepEqual([pace.state(6000), pace.state(6001)], ["open", "full"]);
      assert.deepEqual([pace.free(6000), pace.free(6001)], [Infinity, 0]);
      pace.leave(bytes);
      assert.deepEqual([pace.state(6001), pace.free(6001)], ["full", messages === 2 ? 127 : 1]);
      for (let left = messages - 1; left > messages / 2; left--) pace.leave(bytes);
      assert.equal(pace.state(6001), "full");
      pace.leave(bytes);
      assert.equal(pace.state(6001), "open");
    });
  }

  it("leave the room to the others when one is full", () => {
    const [full, open] = [oneOfTwo(), oneOfTwo()];
    enter(full, 128);
    for (const [others, room] of [
      [{ messages: 255, bytes: 1 }, 1],
      [{ messages: 256, bytes: 1 }, 0],
      [{ messages: 1, bytes: 8 * MIB }, 0],
    ] as const) {
      const held = { messages: 128 + others.messages, bytes: 128 + others.bytes };
      assert.equal(roomOf(held, [full, open], 1001), room);
      assert.equal(roomOf(held, [full, open], 1000), 0);
    }
  });

  it("take what is free in their shares when all are full", () => {
    const paces = [oneOfTwo(), oneOfTwo()] as const;
    for (const pace of paces) enter(pace, 128);
    assert.equal(roomOf({ messages: 256, bytes: 256 }, paces, 1001), 0);
    for (let n = 0; n < 3; n++) paces[0].leave(1);
    assert.equal(roomOf({ messages: 253, bytes: 253 }, paces, 1001), 3);
    assert.equal(roomOf({ messages: 255, bytes: 255 }, paces, 1001), 1);
    for (let n = 0; n < 40; n++) paces[1].leave(1);
    assert.equal(roomOf({ messages: 213, bytes: 213 }, paces, 1001), 32);
  });

  it("give each of many shards a share that is worth the name", () => {
    const pace = makePace({ sharers: 100, isAway: () => false });
    enter(pace, 15);
    assert.equal(pace.state(60_000), "open");
    enter(pace, 1, { at: 60_000 });
    assert.equal(pace.state(61_001), "full");
  });
});
