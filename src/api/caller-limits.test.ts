import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeLimit } from "./caller-limits.ts";
import { TokenBuckets } from "./token-buckets.ts";

/** What is said of each of the calls, made at these milliseconds, to a limit of two a minute. */
function told(...calls: number[]) {
  const buckets = new TokenBuckets({ perMinute: 2, maxKeys: 10 });
  return calls.map((atMs) => {
    const taken = buckets.take("key", atMs);
    const { state, waitS } = describeLimit("writes", 2, taken);
    return taken.allowed ? state : `${state}, wait ${waitS}`;
  });
}

describe("what a caller is told of a limit", () => {
  it("is the policy, by its name", () => {
    const taken = new TokenBuckets({ perMinute: 2, maxKeys: 1 }).take("key", 0);
    assert.equal(describeLimit("writes", 2, taken).policy, '"writes";q=2;w=60');
  });

  it("is what remains, and when all of it is back; for nothing when the next is", () => {
    assert.deepEqual(told(0, 0, 0), ['"writes";r=1;t=30', '"writes";r=0;t=30', '"writes";r=0;t=30, wait 30']);
  });

  it("is rounded up to whole seconds, at least one, so a caller who waits this long succeeds", () => {
    assert.deepEqual(told(0, 0, 1, 1000, 1001, 29_001, 29_999, 30_000).slice(2), [
      '"writes";r=0;t=30, wait 30',
      '"writes";r=0;t=29, wait 29',
      '"writes";r=0;t=29, wait 29',
      '"writes";r=0;t=1, wait 1',
      '"writes";r=0;t=1, wait 1',
      '"writes";r=0;t=30',
    ]);
  });
});
