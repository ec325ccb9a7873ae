import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tenant } from "../../test/support/two-tenants.ts";
import type { NewEvent } from "../queue/queue.ts";
import { Refusal } from "../shared/refusal.ts";
import { openCatalog } from "./live-catalog.ts";
import { makePublisher, type Published } from "./publish.ts";

const MOST_EVENTS = 20_000;
const MOST_CHARACTERS = 64 * 1024 * 1024;
const EVENT = { type: "invoice.paid", data: {} };
const acme = tenant("acme");
const catalog = await openCatalog(undefined);

const answersTo = (events: readonly NewEvent[]): Published[] =>
  events.map(({ id }) => ({ id, dispatchCount: 1, isNew: true }));

/** A publisher whose commits end when they are told to. */
function publisher() {
  const commits: { events: NewEvent[]; end: (error?: Error) => void }[] = [];
  const made = makePublisher(catalog, (events) => {
    const { promise, resolve, reject } = Promise.withResolvers<Published[]>();
    const end = (error?: Error) => (error === undefined ? resolve(answersTo(events)) : reject(error));
    commits.push({ events, end });
    return promise;
  });
  const publish: typeof made.publish = (...given) => made.publish(...given);
  return { publish, commits };
}

const events = (count: number) => Array.from({ length: count }, () => EVENT);

async function refusal(work: Promise<unknown>): Promise<[code: string, retryAfterS: number | undefined]> {
  const error = await work.then(
    () => assert.fail("it was accepted"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Refusal);
  return [error.code, error.retryAfterS];
}

describe("events that are published", () => {
  it("are answered in their order once they are durable", async () => {
    const { publish, commits } = publisher();
    const published = publish(events(3), acme);
    const [commit] = commits;
    assert.equal(commit?.events.length, 3);
    assert.ok(
      commit.events.every(({ tenantId, traceparent }) => tenantId === acme && traceparent === undefined),
    );
    commit.end();
    assert.deepEqual(await published, answersTo(commit.events));
  });

  it("continue the trace of their request", async () => {
    const { publish, commits } = publisher();
    const published = publish(events(2), acme, "00-trace");
    commits[0]?.end();
    await published;
    assert.deepEqual(
      commits[0]?.events.map(({ traceparent }) => traceparent),
      ["00-trace", "00-trace"],
    );
  });

  it("are refused before they take room, where they break a rule", async () => {
    const { publish, commits } = publisher();
    assert.deepEqual(await refusal(publish({ type: "none" }, acme)), ["validation_failed", undefined]);
    assert.deepEqual(commits, []);
  });
});

describe("the room for events being accepted", () => {
  const refused = ["too_many_requests", 1];

  it("is 20,000 events, given back when they are durable and when they cannot be", async () => {
    const { publish, commits } = publisher();
    for (const error of [undefined, new Error("the database is away")]) {
      commits.length = 0;
      const accepting = Array.from({ length: MOST_EVENTS / 1000 }, () => publish(events(1000), acme));
      assert.deepEqual(await refusal(publish(EVENT, acme)), refused);
      assert.equal(commits.length, accepting.length);
      for (const { end } of commits) end(error);
      await Promise.allSettled(accepting);
    }
    commits.length = 0;
    const one = publish(EVENT, acme);
    commits[0]?.end();
    assert.equal((await one).length, 1);
  });

  it("is 64 Mi characters, given back as well", async () => {
    const { publish, commits } = publisher();
    const empty = publish({ type: EVENT.type, data: { text: "" } }, acme);
    const around = commits[0]?.events[0]?.body.length ?? 0;
    commits[0]?.end();
    await empty;
    const textOf = (characters: number) => ({ type: EVENT.type, data: { text: "x".repeat(characters) } });
    assert.deepEqual(await refusal(publish(textOf(MOST_CHARACTERS - around + 1), acme)), refused);
    for (const error of [undefined, new Error("the database is away")]) {
      commits.length = 0;
      const all = publish(textOf(MOST_CHARACTERS - around), acme);
      assert.deepEqual(await refusal(publish(EVENT, acme)), refused);
      commits[0]?.end(error);
      await Promise.allSettled([all]);
    }
  });
});

/** Each in its turn, in arrays of so many, until all are refused. */
async function fill(publish: ReturnType<typeof publisher>["publish"], sizes: readonly number[]) {
  const waiting: Promise<unknown>[] = [];
  const left = new Set(sizes.keys());
  while (left.size > 0) {
    for (const n of left) {
      const accepting = publish(events(sizes[n] ?? 0), tenant(`sick-${n}`));
      const isRefused = await Promise.race([
        accepting.then(
          () => false,
          () => true,
        ),
        new Promise(setImmediate),
      ]);
      if (isRefused === true) left.delete(n);
      else waiting.push(accepting);
    }
  }
  return waiting;
}

describe("the room where tenants have filled it whose events wait", () => {
  const refused = ["too_many_requests", 1];

  for (const [name, sizes] of [
    ["one", [1000]],
    ["two", [1000, 1000]],
    ["ten", Array.from({ length: 10 }, () => 1000)],
    ["a hundred", Array.from({ length: 100 }, () => 100)],
    ["one with many and fifty with few", [1000, ...Array.from({ length: 50 }, () => 10)]],
  ] as const) {
    it(`is there for another, and for no more of theirs: ${name}`, async () => {
      const { publish, commits } = publisher();
      const waiting = await fill(publish, sizes);
      // More than are free at once, as those of a healthy tenant end.
      for (let round = 0; round < 300; round++) {
        const taken = commits.length;
        const accepted = publish(events(50), acme);
        commits[taken]?.end();
        assert.equal((await accepted).length, 50);
      }
      const [one] = sizes;
      assert.deepEqual(await refusal(publish(events(one), tenant("sick-0"))), refused);
      const [theirs, mine] = [
        { ...EVENT, tenant_id: "sick-0" },
        { ...EVENT, tenant_id: "acme" },
      ];
      const ofBoth = [mine, ...Array.from({ length: one - 1 }, () => theirs)];
      assert.deepEqual(await refusal(publish(ofBoth, null)), refused);
      for (const { end } of commits) end();
      await Promise.all(waiting);
      const again = publish(events(1000), tenant("sick-0"));
      commits.at(-1)?.end();
      assert.equal((await again).length, 1000);
    });
  }

  it("is shared by the characters of their events too", async () => {
    const { publish, commits } = publisher();
    const large = { type: EVENT.type, data: { text: "x".repeat(MOST_CHARACTERS / 32) } };
    const waiting = Array.from({ length: 31 }, () => publish(large, tenant("sick")));
    assert.deepEqual(await refusal(publish(large, tenant("sick"))), refused);
    waiting.push(publish(large, acme), publish(events(1000), acme));
    for (const { end } of commits) end();
    await Promise.all(waiting);
  });
});

describe("a publish whose commit is silent", () => {
  it("is answered after eight seconds, and keeps its room until the commit ends", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const { publish, commits } = publisher();
    const silent = Array.from({ length: MOST_EVENTS / 1000 }, () => publish(events(1000), acme));
    const outcomes = silent.map(refusal);
    test.mock.timers.tick(7999);
    await new Promise(setImmediate);
    const noneYet = Promise.resolve("none yet");
    assert.equal(await Promise.race([...outcomes, noneYet]), "none yet");
    test.mock.timers.tick(1);
    for (const outcome of outcomes) assert.deepEqual(await outcome, ["unavailable", 2]);
    assert.deepEqual(await refusal(publish(EVENT, acme)), ["too_many_requests", 1]);
    for (const { end } of commits) end();
    await new Promise(setImmediate);
    const one = publish(EVENT, acme);
    commits.at(-1)?.end();
    assert.equal((await one).length, 1);
  });
});
