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
    pace.succeeded(0);
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
    const [one, other] = [oneOfTwo(), oneOfTwo()];
    enter(one, 200);
    assert.equal(roomOf({ messages: 256, bytes: 256 }, [one, other], 0), 0);
    one.failed(0);
    assert.equal(roomOf({ messages: 256, bytes: 256 }, [one, other], 0), 32);
    assert.deepEqual([one.admits(50), other.admits(50)], [false, true]);
  });

  it("let a single message into a shard that fails, once its pause is over and none is tried there", () => {
    const pace = oneOfTwo();
    enter(pace, 1);
    pace.failed(0);
    assert.equal(pace.admits(100), false);
    pace.leave(1);
    assert.deepEqual([pace.admits(99), pace.admits(100)], [false, true]);
    enter(pace, 1);
    assert.equal(pace.admits(100), false);
    pace.succeeded(110);
    assert.equal(pace.admits(111), true);
  });

  it("close a shard whose share is taken while nothing passes for a second, and open it at the first that does", () => {
    for (const [messages, bytes] of [
      [128, 1],
      [2, 2 * MIB],
    ] as const) {
      const pace = oneOfTwo();
      enter(pace, messages - 1, { bytes });
      assert.equal(pace.isClosed(5000), false);
      enter(pace, 1, { bytes });
      assert.deepEqual([pace.isClosed(1000), pace.isClosed(1001), pace.admits(1001)], [false, true, false]);
      const paces = [pace, oneOfTwo()];
      // All of the room is the other's.
      for (const [others, room] of [
        [{ messages: 255, bytes: 1 }, 1],
        [{ messages: 256, bytes: 1 }, 0],
        [{ messages: 1, bytes: 8 * MIB }, 0],
      ] as const) {
        const held = { messages: messages + others.messages, bytes: messages * bytes + others.bytes };
        assert.equal(roomOf(held, paces, 1001), room);
      }
      pace.succeeded(1500);
      assert.deepEqual([pace.isClosed(2500), pace.isClosed(2501)], [false, true]);
      pace.leave(bytes);
      assert.equal(pace.isClosed(2501), false);
    }
  });

  it("count a second of silence from the first message on, not from an earlier one", () => {
    const pace = oneOfTwo();
    enter(pace, 1, { at: 0 });
    pace.leave(1);
    enter(pace, 128, { at: 10_000 });
    assert.deepEqual([pace.isClosed(11_000), pace.isClosed(11_001)], [false, true]);
  });

  it("admit nothing into a shard that is known to be away, also behind its pause", () => {
    let isAway = true;
    const pace = oneOfTwo(() => isAway);
    assert.deepEqual([pace.isClosed(0), pace.admits(0)], [true, false]);
    assert.equal(roomOf(none, [pace, oneOfTwo(() => true)], 0), 0);
    isAway = false;
    assert.deepEqual([pace.isClosed(0), pace.admits(0)], [false, true]);
    pace.failed(0);
    isAway = true;
    assert.equal(pace.admits(60_000), false);
  });

  it("take one message at a time when all fail, as one database does", () => {
    const [one, other] = [oneOfTwo(), oneOfTwo()];
    one.failed(0);
    other.failed(50);
    assert.equal(roomOf(none, [one, other], 99), 0);
    assert.equal(roomOf(none, [one, other], 100), 1);
    // It is read, and nobody knows yet whose it is.
    assert.equal(roomOf({ messages: 1, bytes: 1 }, [one, other], 100), 0);
    enter(one, 1);
    assert.equal(roomOf({ messages: 1, bytes: 1 }, [one, other], 100), 0);
    assert.equal(roomOf({ messages: 1, bytes: 1 }, [one, other], 150), 1);
  });

  it("give each of many shards a share that is worth the name", () => {
    const pace = makePace({ sharers: 100, isAway: () => false });
    enter(pace, 15);
    assert.equal(pace.isClosed(60_000), false);
    enter(pace, 1);
    assert.equal(pace.isClosed(60_000), true);
  });
});
