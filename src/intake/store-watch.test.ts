import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../shared/clock.ts";
import { watchStores } from "./store-watch.ts";
import { MessageTooLargeError, StreamUnavailableError } from "./stream.ts";

const MESSAGE = new Uint8Array();

/** A stream that is told what to do with each message, at times of the test's own. */
function makeWatched() {
  let nowMs = 0;
  let fault: Error | null = null;
  const store = async () => {
    if (fault !== null) throw fault;
  };
  const watch = watchStores({ store }, { ...systemClock, nowMs: () => nowMs });
  return {
    failure: () => watch.failure(),
    /** Stores a message at this time; returns its error. */
    storeAt(ms: number, given: Error | null): Promise<unknown> {
      [nowMs, fault] = [ms, given];
      return watch.store(MESSAGE).then(
        () => null,
        (error: unknown) => error,
      );
    },
    waitUntil: (ms: number) => (nowMs = ms),
  };
}

const silent = new StreamUnavailableError("timeout");

describe("the watch of what the stream takes", () => {
  it("tells a failure that lasts longer than an election, and passes each on", async () => {
    const stream = makeWatched();
    assert.equal(await stream.storeAt(0, silent), silent);
    await stream.storeAt(9999, silent);
    assert.equal(stream.failure(), null);
    await stream.storeAt(10_000, silent);
    assert.equal(stream.failure(), "timeout");
  });

  it("forgets it at the first message that is stored", async () => {
    const stream = makeWatched();
    for (const ms of [0, 10_000]) await stream.storeAt(ms, silent);
    assert.equal(await stream.storeAt(10_001, null), null);
    assert.equal(stream.failure(), null);
    await stream.storeAt(20_000, silent);
    assert.equal(stream.failure(), null);
  });

  it("forgets it after half a minute without a message, and begins anew", async () => {
    const stream = makeWatched();
    for (const ms of [0, 10_000]) await stream.storeAt(ms, silent);
    stream.waitUntil(39_999);
    assert.equal(stream.failure(), "timeout");
    stream.waitUntil(40_000);
    assert.equal(stream.failure(), null);
    await stream.storeAt(40_000, silent);
    assert.equal(stream.failure(), null);
  });

  it("counts no message that is too large, which is its sender's fault", async () => {
    const stream = makeWatched();
    for (const ms of [0, 10_000]) await stream.storeAt(ms, new MessageTooLargeError("1 MiB"));
    assert.equal(stream.failure(), null);
  });
});
