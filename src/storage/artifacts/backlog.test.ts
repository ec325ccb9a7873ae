import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { tenant } from "../../../test/support/two-tenants.ts";
import { tenantsBeyond } from "./backlog.ts";

const MAX = { count: 100, bytes: 1000 };
const of = (...given: readonly [count: number, bytes: number][]) =>
  given.map(([count, bytes], index) => ({ tenantId: tenant(`t${index}`), count, bytes }));
const beyond = (...given: readonly [count: number, bytes: number][]) => [...tenantsBeyond(of(...given), MAX)];

describe("bodies that wait", () => {
  it("are too many of nobody below the bound, whoever has them", () => {
    assert.deepEqual(beyond(), []);
    assert.deepEqual(beyond([99, 999]), []);
    assert.deepEqual(beyond([98, 998], [1, 1]), []);
  });

  it("are too many of whoever has reached an equal part of the bound, by number or by bytes", () => {
    assert.deepEqual(beyond([100, 0]), ["t0"]);
    assert.deepEqual(beyond([0, 1000]), ["t0"]);
    assert.deepEqual(beyond([60, 0], [49, 0]), ["t0"]);
    assert.deepEqual(beyond([60, 0], [50, 0]), ["t0", "t1"]);
    assert.deepEqual(beyond([99, 1], [1, 999]), ["t0", "t1"]);
    assert.deepEqual(beyond([97, 1], [1, 999]), ["t1"]);
  });

  it("are too many of somebody once the bound is reached, and of nobody whose part is smaller", () => {
    const amounts = fc.array(fc.tuple(fc.nat(200), fc.nat(2000)), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(amounts, (given) => {
        const waiting = of(...given);
        const found = tenantsBeyond(waiting, MAX);
        const isFull = (["count", "bytes"] as const).some(
          (kind) => waiting.reduce((sum, one) => sum + one[kind], 0) >= MAX[kind],
        );
        assert.equal(found.size > 0, isFull);
        for (const { tenantId, count, bytes } of waiting) {
          const isSmall = count < MAX.count / waiting.length && bytes < MAX.bytes / waiting.length;
          if (isSmall) assert.ok(!found.has(tenantId));
        }
      }),
    );
  });
});
