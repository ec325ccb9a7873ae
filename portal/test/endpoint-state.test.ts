/** What a list says of an endpoint, and which versions of event types it gets or may choose. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { msToNext } from "../src/pages/endpoint/next-attempt.ts";
import { loadModule } from "./support/page.ts";

type Endpoint = { id: string; enabled: boolean; disabled_reason: string | null };
type Stats = {
  delivered: number;
  failed: number;
  last_delivered_at: string | null;
  last_failed_at: string | null;
};

const { stateOf, isDisabled, oldestOf } = await loadModule<{
  stateOf: (endpoint: Endpoint, stats: Stats | undefined, oldest: string | undefined) => string | null;
  isDisabled: (state: string | null) => boolean;
  oldestOf: (counted: readonly { endpoint_id: string }[]) => string | undefined;
}>("endpoints/endpoint-state.ts");

type Listed = { endpoint: { id: string }; stats: unknown; state: string | null };
const { isIn, isFound, withStats, newest } = await loadModule<{
  isIn: (one: Pick<Listed, "state">, wanted: string) => boolean;
  isFound: (one: { endpoint: object }, q: string) => boolean;
  withStats: (endpoints: readonly Endpoint[], stats: readonly object[]) => Listed[];
  newest: (one: string | null, other: string | null) => string | null;
}>("pages/endpoints/listed.ts");

const [EARLIER, LATER] = ["2026-11-28T10:00:00.000Z", "2026-11-28T11:00:00.000Z"];

const attempts = (delivered: string | null, failed: string | null): Stats => ({
  delivered: delivered === null ? 0 : 1,
  failed: failed === null ? 0 : 1,
  last_delivered_at: delivered,
  last_failed_at: failed,
});

describe("an endpoint's state", () => {
  const enabled = { id: "b", enabled: true, disabled_reason: null };

  it("is that of its newest attempt; of two at once it works", () => {
    assert.equal(stateOf(enabled, attempts(null, null), undefined), "quiet");
    assert.equal(stateOf(enabled, attempts(EARLIER, null), undefined), "active");
    assert.equal(stateOf(enabled, attempts(null, EARLIER), undefined), "failing");
    assert.equal(stateOf(enabled, attempts(EARLIER, LATER), undefined), "failing");
    assert.equal(stateOf(enabled, attempts(LATER, EARLIER), undefined), "active");
    assert.equal(stateOf(enabled, attempts(LATER, LATER), undefined), "active");
  });

  it("is unknown where only newer endpoints were counted", () => {
    const oldest = oldestOf([{ endpoint_id: "c" }, { endpoint_id: "b" }]);
    assert.equal(stateOf({ ...enabled, id: "a" }, undefined, oldest), null);
    assert.equal(stateOf(enabled, undefined, oldest), "quiet");
    assert.equal(stateOf({ ...enabled, id: "a" }, undefined, oldestOf([])), "quiet");
  });

  it("says why it is disabled, whatever its attempts were", () => {
    for (const [reason, state] of [
      ["failing", "disabled"],
      ["manual", "manual"],
      ["gone", "gone"],
      [null, "manual"],
    ] as const) {
      const endpoint = { id: "a", enabled: false, disabled_reason: reason };
      assert.equal(stateOf(endpoint, attempts(LATER, null), "b"), state);
      assert.ok(isDisabled(state));
    }
    for (const state of ["failing", "quiet", "active", null]) assert.ok(!isDisabled(state));
  });
});

describe("the list of endpoints", () => {
  it("has those that are enabled, and those that are not, by whomever, and the failing among the former", () => {
    const states = ["active", "quiet", "failing", "manual", "gone", "disabled", null];
    const having = (wanted: string) => states.filter((state) => isIn({ state }, wanted));
    assert.deepEqual(having("all"), states);
    // One that is not counted is enabled: the state of another is known without.
    assert.deepEqual(having("enabled"), ["active", "quiet", "failing", null]);
    assert.deepEqual(having("failing"), ["failing"]);
    assert.deepEqual(having("disabled"), ["manual", "gone", "disabled"]);
  });

  it("finds them by all that tells them apart, in any case and with spaces around", () => {
    const endpoint = { id: "01a2", url: "https://example.com/Hooks", description: "Books", events: ["a.b"] };
    for (const q of ["", " ", "01A2", "hooks", " books ", "A.B"]) assert.ok(isFound({ endpoint }, q), q);
    for (const q of ["films", "a.b.c", "null"])
      assert.ok(!isFound({ endpoint: { ...endpoint, description: null } }, q), q);
  });

  it("has each one's own figures, and says nothing of those that are too old to be counted", () => {
    const stats = [
      { endpoint_id: "c", ...attempts(EARLIER, null) },
      { endpoint_id: "b", ...attempts(EARLIER, LATER) },
    ];
    const endpoints = ["a", "b", "c"].map((id) => ({ id, enabled: true, disabled_reason: null }));
    assert.deepEqual(
      withStats(endpoints, stats).map((one) => [one.endpoint.id, one.stats, one.state]),
      [
        ["a", undefined, null],
        ["b", stats[1], "failing"],
        ["c", stats[0], "active"],
      ],
    );
  });

  it("names the newest of its attempts, whatever became of it", () => {
    assert.equal(newest(null, null), null);
    assert.equal(newest(EARLIER, null), EARLIER);
    assert.equal(newest(null, EARLIER), EARLIER);
    assert.equal(newest(EARLIER, LATER), LATER);
    assert.equal(newest(LATER, EARLIER), LATER);
  });
});

/** Until figures are read again that say that an attempt is due in so many seconds. */
const dueIn = (seconds: number) =>
  msToNext(
    { oldest_due_at: new Date(Date.parse(EARLIER) + seconds * 1000).toISOString() },
    Date.parse(EARLIER),
  );

describe("the figures of an endpoint", () => {
  it("are read again once its next attempt should be over, twice a minute at most and each hour at least", () => {
    assert.equal(dueIn(60), 63_000);
    assert.equal(dueIn(31), 34_000);
    for (const seconds of [30, 0, -600]) assert.equal(dueIn(seconds), 33_000, String(seconds));
    for (const seconds of [3597, 86_400]) assert.equal(dueIn(seconds), 3_600_000, String(seconds));
    assert.equal(dueIn(3596), 3_599_000);
  });

  it("are not read again where nothing waits", () => {
    assert.equal(msToNext(undefined, 0), false);
    assert.equal(msToNext({ oldest_due_at: null }, 0), false);
  });
});
