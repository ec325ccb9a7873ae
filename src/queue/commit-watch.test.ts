import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { QUIET } from "../../test/support/quiet-queue.ts";
import { makeCommitWatch } from "./commit-watch.ts";
import type { DispatchQueue } from "./queue.ts";

const DISK_FULL = Object.assign(new Error("no space left on device"), { code: "53100" });
const OUT_OF_MEMORY = Object.assign(new Error("out of memory"), { code: "53200" });
const LOCKED = Object.assign(new Error("a lock is held"), { code: "55P03" });
const NO_PLACES = { lease: null, parked: [] };

/** A watched queue whose calls all fail with what `faults.now` is. */
function watched(t: TestContext) {
  const clock = { nowMs: 50_000 };
  t.mock.method(performance, "now", () => clock.nowMs);
  const faults: { now: Error | null } = { now: null };
  const given: unknown[][] = [];
  const answering =
    <T>(answer: T) =>
    async (...args: unknown[]): Promise<T> => {
      given.push(args);
      if (faults.now !== null) throw faults.now;
      return answer;
    };
  const queue: DispatchQueue = {
    accept: answering({ accepted: [], unleased: [], leased: [], parked: [] }),
    acceptParts: answering({ accepted: [], unleased: [], parked: [], earlier: new Map() }),
    complete: answering(new Set()),
    findEarlier: answering(new Map()),
    findKnown: answering(new Set()),
    relay: answering({ relayed: 0, mayHaveMore: false }),
    claim: answering({ claimed: [], withoutEvent: [], isAll: true }),
    park: answering(false),
    parkOldest: answering(undefined),
    pull: answering(new Map()),
    findDue: answering([]),
    findBacklogs: answering([]),
    release: answering(undefined),
    defer: answering(undefined),
    hold: answering(new Set()),
    endpointChanged: answering(undefined),
    measure: answering(QUIET),
  };
  const watch = makeCommitWatch();
  return { clock, faults, given, watch, queue: watch.watch(queue) };
}

const commits: [string, (queue: DispatchQueue) => Promise<unknown>][] = [
  ["accept", (queue) => queue.accept([], NO_PLACES)],
  ["acceptParts", (queue) => queue.acceptParts([[]], { parked: [] })],
  ["complete", (queue) => queue.complete([], "skip")],
];

describe("the watch over commits", () => {
  for (const [name, commit] of commits) {
    it(`remembers that ${name} failed because of the server, until a commit succeeds`, async (t) => {
      const { faults, watch, queue } = watched(t);
      assert.equal(watch.failure(), null);
      faults.now = DISK_FULL;
      await assert.rejects(commit(queue), DISK_FULL);
      assert.equal(watch.failure(), DISK_FULL);
      faults.now = OUT_OF_MEMORY;
      await assert.rejects(commit(queue), OUT_OF_MEMORY);
      assert.equal(watch.failure(), OUT_OF_MEMORY);
      faults.now = null;
      await commit(queue);
      assert.equal(watch.failure(), null);
    });
  }

  it("gives the queue what it was given, and answers its answer", async (t) => {
    const { given, queue } = watched(t);
    const answers = [
      await queue.accept([], NO_PLACES),
      await queue.acceptParts([[]], { parked: [] }),
      await queue.complete([], "wait"),
      await queue.measure(),
    ];
    assert.deepEqual(answers, [
      { accepted: [], unleased: [], leased: [], parked: [] },
      { accepted: [], unleased: [], parked: [], earlier: new Map() },
      new Set(),
      QUIET,
    ]);
    assert.deepEqual(given, [[[], NO_PLACES], [[[]], { parked: [] }], [[], "wait"], []]);
  });

  it("does not take a lock, which may be one tenant's, for a failure of the server", async (t) => {
    const { faults, watch, queue } = watched(t);
    faults.now = LOCKED;
    await assert.rejects(queue.complete([], "skip"), LOCKED);
    assert.equal(watch.failure(), null);
    faults.now = DISK_FULL;
    await assert.rejects(queue.complete([], "skip"), DISK_FULL);
    faults.now = LOCKED;
    await assert.rejects(queue.complete([], "skip"), LOCKED);
    assert.equal(watch.failure(), DISK_FULL);
  });

  it("takes a connection that could not be opened for one: a probe has its own, open already", async (t) => {
    const { faults, watch, queue } = watched(t);
    for (const code of ["53300", "28P01", "CERT_HAS_EXPIRED"]) {
      faults.now = Object.assign(new Error("refused"), { code });
      await assert.rejects(queue.accept([], NO_PLACES), { code });
      assert.equal(watch.failure(), faults.now);
    }
  });

  it("is not ended by a look, which fits on a full disk", async (t) => {
    const { faults, watch, queue } = watched(t);
    faults.now = DISK_FULL;
    await assert.rejects(queue.accept([], NO_PLACES), DISK_FULL);
    faults.now = null;
    await queue.measure();
    assert.equal(watch.failure(), DISK_FULL);
  });

  it("forgets a failure after 30 seconds without a commit", async (t) => {
    const { clock, faults, watch, queue } = watched(t);
    faults.now = DISK_FULL;
    await assert.rejects(queue.accept([], NO_PLACES), DISK_FULL);
    clock.nowMs += 29_999;
    assert.equal(watch.failure(), DISK_FULL);
    clock.nowMs += 1;
    assert.equal(watch.failure(), null);
  });
});
