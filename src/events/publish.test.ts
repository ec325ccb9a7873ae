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

describe("the room where tenants have filled it whose events wait", () => {
  const refused = ["too_many_requests", 1];

  for (const sick of [1, 2, 10, 100]) {
    it(`is there for another, and for no more of theirs: ${sick} of them`, async () => {
      const { publish, commits } = publisher();
      const ofEach = MOST_EVENTS / sick;
      const waiting = Array.from({ length: sick }, (_, n) =>
        Array.from({ length: Math.ceil(ofEach / 1000) }, () =>
          publish(events(Math.min(ofEach, 1000)), tenant(`sick-${n}`)),
        ),
      );
      // More than they ever have under way, as those of a healthy tenant end.
      for (let round = 0; round < 30; round++) {
        assert.deepEqual(await refusal(publish(EVENT, tenant("sick-0"))), refused);
        const taken = commits.length;
        const accepted = publish(events(400), acme);
        commits[taken]?.end();
        assert.equal((await accepted).length, 400);
      }
      assert.deepEqual(
        await refusal(
          publish(
            [
              { ...EVENT, tenant_id: "sick-0" },
              { ...EVENT, tenant_id: "acme" },
            ],
            null,
          ),
        ),
        refused,
      );
      for (const { end } of commits) end();
      await Promise.all(waiting.flat());
      const again = publish(EVENT, tenant("sick-0"));
      commits.at(-1)?.end();
      assert.equal((await again).length, 1);
    });
  }

  it("is counted by the characters of their events too", async () => {
    const { publish, commits } = publisher();
    const large = { type: EVENT.type, data: { text: "x".repeat(MOST_CHARACTERS / 32) } };
    const waiting = Array.from({ length: 31 }, () => publish(large, tenant("sick")));
    // Many more events, and less in all.
    waiting.push(...Array.from({ length: 40 }, () => publish(events(10), acme)));
    assert.deepEqual(await refusal(publish([large, large], tenant("sick"))), refused);
    waiting.push(publish(large, acme));
    for (const { end } of commits) end();
    await Promise.all(waiting);
  });

  it("ends as well, whoever asks: half as much again", async () => {
    const { publish, commits } = publisher();
    const waiting = Array.from({ length: 30 }, (_, n) =>
      publish(events(1000), tenant(n < 20 ? "sick" : `other-${n}`)),
    );
    assert.deepEqual(await refusal(publish(EVENT, acme)), refused);
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
