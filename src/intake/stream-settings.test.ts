import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { unsafeConsumer, unsafeStream, whyNoneTaken } from "./stream-settings.ts";

const STREAM = {
  subjects: ["postern.accepted", "postern.events.>"],
  retention: "workqueue",
  storage: "file",
  discard: "new",
  max_age: 0,
  max_msgs_per_subject: -1,
  sealed: false,
  max_msgs: -1,
  max_bytes: -1,
};
const CONSUMER = { ack_policy: "explicit", max_deliver: -1, max_ack_pending: -1 };
const EMPTY = { messages: 0, bytes: 0 };

describe("the settings of the intake's stream", () => {
  it("are safe as Postern makes them, and where the servers name their defaults", () => {
    assert.deepEqual(unsafeStream(STREAM), []);
    assert.deepEqual(unsafeStream({ ...STREAM, persist_mode: "" }), []);
    assert.deepEqual(unsafeConsumer(CONSUMER, { isPaused: false }), []);
    assert.equal(whyNoneTaken(STREAM, { messages: 1e6, bytes: 1e12 }), null);
  });

  it("are unsafe where an answered event may be only in the memory of a server", () => {
    assert.deepEqual(unsafeStream({ ...STREAM, persist_mode: "async" }), [
      "persist_mode is async instead of default",
    ]);
  });

  it("are unsafe where a consumer hands messages out without their events, or to no worker", () => {
    const settings = { headers_only: true, deliver_subject: "a.b", max_batch: 1, max_expires: 1e9 };
    assert.deepEqual(unsafeConsumer({ ...CONSUMER, ...settings }, { isPaused: true }), [
      "the consumer's headers_only is true instead of false",
      "the consumer's deliver_subject is a.b instead of none",
      "the consumer's max_batch is 1 instead of 0",
      "the consumer's max_expires is 1000000000 instead of 0",
      "the consumer is paused",
    ]);
  });

  it("take no event that nobody answers, or of whose subject they know nothing", () => {
    assert.equal(
      whyNoneTaken({ ...STREAM, no_ack: true }, EMPTY),
      "its no_ack is true, so it answers nobody",
    );
    assert.equal(whyNoneTaken({ ...STREAM, sealed: true }, EMPTY), "it is sealed");
    const without = [["postern.events.>"], ["postern"], ["postern.*.x"], ["postern.accepted.>"], ["a.>"]];
    for (const subjects of without) {
      const why = whyNoneTaken({ ...STREAM, subjects }, EMPTY);
      assert.equal(why, "its subjects are without postern.accepted", subjects.join());
    }
    // A mirror of another stream has none.
    const { subjects: _, ...mirror } = STREAM;
    assert.equal(whyNoneTaken(mirror, EMPTY), "its subjects are without postern.accepted");
    for (const subjects of [[">"], ["a", "postern.>"], ["postern.*"], ["*.accepted"], ["*.*"]])
      assert.equal(whyNoneTaken({ ...STREAM, subjects }, EMPTY), null, subjects.join());
  });

  it("take none once the stream is full", () => {
    const few = { ...STREAM, max_msgs: 2 };
    assert.equal(whyNoneTaken(few, { messages: 1, bytes: 9 }), null);
    assert.equal(whyNoneTaken(few, { messages: 2, bytes: 9 }), "it is full: max_msgs is 2");
    const small = { ...STREAM, max_bytes: 3000 };
    assert.equal(whyNoneTaken(small, { messages: 2, bytes: 2700 }), null);
    assert.equal(whyNoneTaken(small, { messages: 2, bytes: 2701 }), "it is full: max_bytes is 3000");
    // It drops old ones instead, which is unsafe for itself.
    for (const full of [few, small])
      assert.equal(whyNoneTaken({ ...full, discard: "old" }, { messages: 2, bytes: 3000 }), null);
    const large = { ...STREAM, max_bytes: 1e9 };
    assert.equal(whyNoneTaken(large, { messages: 2, bytes: 1e9 - 256 * 1024 }), null);
    assert.match(whyNoneTaken(large, { messages: 2, bytes: 1e9 - 256 * 1024 + 1 }) ?? "", /full/);
  });
});
