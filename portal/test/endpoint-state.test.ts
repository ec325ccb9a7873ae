/** What a list says of an endpoint, and which versions of event types it gets or may choose. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
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
