import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fairWeight, mayStart, roomIn, weightOf, type ShareLimits } from "./shares.ts";

const LIMITS: ShareLimits = { inFlight: 2048, inFlightPerTenant: 512, inFlightAlways: 8, weight: 32_000_000 };
const NOTHING = { weight: 0, inFlight: 0 };

/** Greedy tenants, one after another and again, each with one lane that takes all it may. */
function fill(tenants: number): number[] {
  const held = Array.from({ length: tenants }, () => ({ weight: 0, inFlight: 0 }));
  const all = { weight: 0, inFlight: 0 };
  for (let took = true; took;) {
    took = false;
    for (const tenant of held) {
      if (roomIn(LIMITS, all, tenant, tenant) < 10_000) continue;
      tenant.weight += 10_000;
      all.weight += 10_000;
      took = true;
    }
  }
  return held.map(({ weight }) => weight);
}

describe("memory", () => {
  for (const tenants of [1, 2, 3, 10, 100]) {
    it(`is divided alike between ${tenants} greedy tenants, and a part stays free for the next`, () => {
      const held = fill(tenants);
      assert.ok(Math.max(...held) - Math.min(...held) <= 10_000);
      const all = { weight: held.reduce((sum, weight) => sum + weight, 0), inFlight: 0 };
      assert.ok(all.weight <= LIMITS.weight);
      assert.ok(roomIn(LIMITS, all, NOTHING, NOTHING) >= 64 * 1024);
    });
  }

  it("is refused to everyone once it is half as much again", () => {
    assert.equal(roomIn(LIMITS, { weight: 48_000_000, inFlight: 0 }, NOTHING, NOTHING), 0);
    assert.ok(roomIn(LIMITS, { weight: 47_999_999, inFlight: 0 }, NOTHING, NOTHING) > 0);
  });

  it("is half of what is free beside the tenant's for its first lane, and a third beside both for others", () => {
    const all = { weight: 12_000_000, inFlight: 0 };
    const tenant = { weight: 3_000_001, inFlight: 0 };
    const lane = { weight: 2_000_000, inFlight: 0 };
    assert.equal(roomIn(LIMITS, all, tenant, NOTHING), 8_499_999);
    assert.equal(roomIn(LIMITS, all, tenant, lane), 4_999_999);
  });

  it("is 64 KiB less what it holds for a tenant that holds little, beyond the pool too", () => {
    const all = { weight: 40_000_000, inFlight: 0 };
    assert.equal(roomIn(LIMITS, all, NOTHING, NOTHING), 65_536);
    const little = { weight: 65_535, inFlight: 0 };
    assert.equal(roomIn(LIMITS, all, little, little), 1);
    const enough = { weight: 65_537, inFlight: 0 };
    assert.equal(roomIn(LIMITS, all, enough, enough), 0);
  });

  it("is refused long before 300,000 dispatches of 10 bytes: each weighs a kilobyte beside its body", () => {
    const weight = weightOf({ body: "x".repeat(10) });
    assert.equal(weight, 1034);
    const all = { weight: 0, inFlight: 0 };
    let count = 0;
    // Each of a tenant of its own, which holds nothing else: nobody is refused later.
    while (count < 300_000 && roomIn(LIMITS, all, NOTHING, NOTHING) >= weight) {
      all.weight += weight;
      count++;
    }
    assert.ok(count > 30_000 && count < 50_000, `${count} dispatches`);
  });

  it("lets a lane that holds nothing take from its tenant's part before lanes that hold much", () => {
    const all = { weight: 12_000_000, inFlight: 0 };
    const tenant = { weight: 12_000_000, inFlight: 0 };
    assert.ok(roomIn(LIMITS, all, tenant, NOTHING) > roomIn(LIMITS, all, tenant, tenant));
  });

  it("is taken back only while less than one more part is free", () => {
    assert.equal(fairWeight(LIMITS, { weight: 16_000_000, inFlight: 0 }, 3), null);
    assert.equal(fairWeight(LIMITS, { weight: 30_000_000, inFlight: 0 }, 3), 8_000_000);
    assert.equal(fairWeight(LIMITS, { weight: 24_000_000, inFlight: 0 }, 3), null);
    assert.equal(fairWeight(LIMITS, { weight: 24_000_001, inFlight: 0 }, 3), 8_000_000);
  });
});

describe("attempts in flight", () => {
  it("are at most a tenant's own limit", () => {
    assert.ok(mayStart(LIMITS, { weight: 0, inFlight: 511 }, { weight: 0, inFlight: 511 }));
    assert.ok(!mayStart(LIMITS, { weight: 0, inFlight: 512 }, { weight: 0, inFlight: 512 }));
  });

  it("are at most as many as are free, once several tenants have many", () => {
    assert.ok(!mayStart(LIMITS, { weight: 0, inFlight: 1848 }, { weight: 0, inFlight: 200 }));
    assert.ok(mayStart(LIMITS, { weight: 0, inFlight: 1848 }, { weight: 0, inFlight: 199 }));
  });

  it("are always a few for each tenant, up to half as many again as the pool", () => {
    assert.ok(mayStart(LIMITS, { weight: 0, inFlight: 3071 }, { weight: 0, inFlight: 7 }));
    assert.ok(!mayStart(LIMITS, { weight: 0, inFlight: 2048 }, { weight: 0, inFlight: 8 }));
    assert.ok(!mayStart(LIMITS, { weight: 0, inFlight: 3072 }, { weight: 0, inFlight: 0 }));
  });
});
