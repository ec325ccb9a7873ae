import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assert as assertThat, constantFrom, integer, property } from "fast-check";
import { BUCKETS, bucketsIn, coarsestSpans, wholeBuckets } from "./stats-range.ts";

const TEN_MINUTES_MS = 600_000;
const instantMs = integer({ min: 0, max: Date.UTC(2100, 0) });
const grain = constantFrom(...Object.values(BUCKETS));

describe("wholeBuckets", () => {
  it("has all of the span, and less than a bucket more at either end", () => {
    assertThat(
      property(instantMs, integer({ min: 1, max: 1e10 }), grain, (fromMs, lengthMs, minutes) => {
        const toMs = fromMs + lengthMs;
        const whole = wholeBuckets({ fromMs, toMs }, minutes);
        const bucketMs = minutes * 60_000;
        assert.ok(whole.fromMs <= fromMs && fromMs - whole.fromMs < bucketMs);
        assert.ok(whole.toMs >= toMs && whole.toMs - toMs < bucketMs);
        const buckets = bucketsIn(whole, minutes);
        assert.equal(buckets.at(0), whole.fromMs);
        assert.equal((buckets.at(-1) ?? 0) + bucketMs, whole.toMs);
      }),
    );
  });
});

describe("coarsestSpans", () => {
  it("covers the span once, in order, by five spans of whole buckets at most", () => {
    assertThat(
      property(instantMs, integer({ min: 0, max: 10_000 }), (atMs, length) => {
        const { fromMs } = wholeBuckets({ fromMs: atMs, toMs: atMs }, 10);
        const span = { fromMs, toMs: fromMs + length * TEN_MINUTES_MS };
        const spans = coarsestSpans(span);
        assert.ok(spans.length <= 5);
        let coveredToMs = span.fromMs;
        for (const part of spans) {
          assert.equal(part.fromMs, coveredToMs);
          assert.ok(part.toMs > part.fromMs);
          assert.equal(part.fromMs % (part.grain * 60_000), 0);
          assert.equal(part.toMs % (part.grain * 60_000), 0);
          coveredToMs = part.toMs;
        }
        assert.equal(coveredToMs, span.toMs);
      }),
    );
  });

  it("takes whole days wherever there are some", () => {
    const spans = coarsestSpans({ fromMs: Date.UTC(2026, 0, 1, 22, 50), toMs: Date.UTC(2026, 0, 4, 1, 10) });
    assert.deepEqual(
      spans.map((span) => [span.grain, new Date(span.fromMs).toISOString().slice(5, 16)]),
      [
        [10, "01-01T22:50"],
        [60, "01-01T23:00"],
        [1440, "01-02T00:00"],
        [60, "01-04T00:00"],
        [10, "01-04T01:00"],
      ],
    );
  });
});
