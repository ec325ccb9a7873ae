import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { TokenBuckets } from "./token-buckets.ts";

const MINUTE_MS = 60_000;

/** Waits between requests, in milliseconds; bursts and long pauses among them. */
const waits = fc.array(fc.oneof(fc.constant(0), fc.nat(50), fc.nat(3000), fc.nat(90_000)), {
  maxLength: 200,
  // By itself it would draw some ten of them at most.
  size: "max",
});
const limits = fc.integer({ min: 1, max: 200 });

/** When each of the requests was made, and whether it passed. */
function run(perMinute: number, pauses: readonly number[]): { atMs: number; allowed: boolean }[] {
  const buckets = new TokenBuckets({ perMinute, maxKeys: 10 });
  let atMs = 1000;
  return pauses.map((pause) => {
    atMs += pause;
    return { atMs, allowed: buckets.take("key", atMs).allowed };
  });
}

describe("a token bucket", () => {
  it("never lets more through than its burst and its rate, in any window", () => {
    fc.assert(
      fc.property(limits, waits, (perMinute, pauses) => {
        const passed = run(perMinute, pauses).filter(({ allowed }) => allowed);
        for (const [first, from] of passed.entries()) {
          for (const [count, to] of passed.slice(first).entries()) {
            const gained = ((to.atMs - from.atMs) * perMinute) / MINUTE_MS;
            assert.ok(count + 1 <= perMinute + gained + 1e-6, `${count + 1} in ${to.atMs - from.atMs} ms`);
          }
        }
      }),
    );
  });

  it("lets through whatever keeps to its rate, however long", () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 500 }), (perMinute, count) => {
        const buckets = new TokenBuckets({ perMinute, maxKeys: 10 });
        for (let index = 0; index < count; index++) {
          assert.ok(buckets.take("key", (index * MINUTE_MS) / perMinute).allowed);
        }
      }),
    );
  });

  it("says when the next may pass: then it does, and a millisecond earlier it does not", () => {
    fc.assert(
      fc.property(limits, waits, fc.nat(60_000), (perMinute, pauses, later) => {
        const emptied = () => {
          const buckets = new TokenBuckets({ perMinute, maxKeys: 10 });
          let atMs = 0;
          for (const pause of pauses) buckets.take("key", (atMs += pause));
          atMs += later;
          for (;;) {
            const taken = buckets.take("key", atMs);
            if (!taken.allowed) return { buckets, atMs, nextInMs: taken.nextInMs };
          }
        };
        const { buckets, atMs, nextInMs } = emptied();
        assert.ok(nextInMs > 0 && nextInMs <= MINUTE_MS / perMinute + 1e-6);
        assert.ok(!buckets.take("key", atMs + Math.max(nextInMs - 1, 0)).allowed || nextInMs < 1);
        assert.ok(emptied().buckets.take("key", atMs + nextInMs).allowed);
      }),
    );
  });

  it("is full again after a minute, and counts down from there", () => {
    const buckets = new TokenBuckets({ perMinute: 3, maxKeys: 10 });
    const remaining = () => {
      const taken = buckets.take("key", nowMs);
      return taken.allowed ? taken.remaining : -1;
    };
    let nowMs = 5;
    assert.deepEqual([remaining(), remaining(), remaining(), remaining()], [2, 1, 0, -1]);
    nowMs += MINUTE_MS;
    assert.deepEqual([remaining(), remaining(), remaining(), remaining()], [2, 1, 0, -1]);
  });

  it("reports when it will be full, and when it has its next token", () => {
    const buckets = new TokenBuckets({ perMinute: 2, maxKeys: 10 });
    assert.deepEqual(buckets.take("key", 0), { allowed: true, remaining: 1, fullInMs: 30_000, nextInMs: 0 });
    assert.deepEqual(buckets.take("key", 0), {
      allowed: true,
      remaining: 0,
      fullInMs: 60_000,
      nextInMs: 30_000,
    });
    assert.deepEqual(buckets.take("key", 10_000), { allowed: false, nextInMs: 20_000 });
  });

  it("is each key's own", () => {
    const buckets = new TokenBuckets({ perMinute: 1, maxKeys: 10 });
    assert.ok(buckets.take("one", 0).allowed);
    assert.ok(!buckets.take("one", 0).allowed);
    assert.ok(buckets.take("other", 0).allowed);
  });
});

describe("the memory of token buckets", () => {
  it("holds no more keys than it may", () => {
    const keys = fc.array(fc.tuple(fc.nat(40), fc.nat(5000)), { maxLength: 300, size: "max" });
    fc.assert(
      fc.property(keys, (uses) => {
        const buckets = new TokenBuckets({ perMinute: 5, maxKeys: 20 });
        let atMs = 0;
        for (const [key, pause] of uses) {
          buckets.take(String(key), (atMs += pause));
          assert.ok(buckets.size <= 20);
        }
      }),
    );
  });

  it("keeps a key that is used up through a flood of new ones", () => {
    const buckets = new TokenBuckets({ perMinute: 600, maxKeys: 1000 });
    for (let used = 0; used < 600; used++) buckets.take("used up", 0);
    assert.ok(!buckets.take("used up", 0).allowed);
    for (let other = 0; other < 100_000; other++) buckets.take(`new ${other}`, 0);
    assert.ok(!buckets.take("used up", 0).allowed);
  });

  it("forgets of those unused for longest the one with most tokens, and no other for a known key", () => {
    const buckets = new TokenBuckets({ perMinute: 10, maxKeys: 3 });
    const remainingOf = (key: string) => {
      const taken = buckets.take(key, 0);
      return taken.allowed && taken.remaining;
    };
    for (const key of ["a", "a", "a", "b", "c", "c", "b"]) buckets.take(key, 0);
    // The same number of tokens: b has been used since.
    assert.deepEqual([remainingOf("d"), buckets.size], [9, 3]);
    assert.deepEqual([remainingOf("a"), remainingOf("b"), buckets.size], [6, 7, 3]);
    assert.deepEqual([remainingOf("c"), remainingOf("a"), remainingOf("b")], [9, 5, 6]);
  });

  it("looks at the sixteen unused for longest alone", () => {
    const buckets = new TokenBuckets({ perMinute: 10, maxKeys: 18 });
    for (let at = 0; at < 18; at++)
      for (let used = at < 16 ? 2 : 1; used > 0; used--) buckets.take(`key ${at}`, 0);
    buckets.take("new", 0);
    const sixteenth = buckets.take("key 16", 0);
    assert.deepEqual(sixteenth.allowed && sixteenth.remaining, 8);
    const first = buckets.take("key 0", 0);
    assert.deepEqual(first.allowed && first.remaining, 9);
  });

  it("forgets what has become full before anything else", () => {
    const buckets = new TokenBuckets({ perMinute: 60, maxKeys: 2 });
    buckets.take("old", 0);
    for (let used = 0; used < 60; used++) buckets.take("used up", 1500);
    buckets.take("new", 1500);
    assert.ok(!buckets.take("used up", 1500).allowed);
  });
});
