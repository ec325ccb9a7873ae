import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeChooser } from "./choose-shard.ts";

function spread(shards: { name: string; weight: number }[], tenants: number): Map<string, number> {
  const choose = makeChooser(shards);
  const counts = new Map(shards.map(({ name }) => [name, 0]));
  for (let n = 0; n < tenants; n++) {
    const name = choose(`tenant_${n}`);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

describe("makeChooser", () => {
  // test/shard-placing.test.ts has as many as there may be.
  it("spreads 100,000 tenants over 20 shards, each within 10 % of its part", () => {
    const shards = Array.from({ length: 20 }, (_, n) => ({ name: `s${n}`, weight: 1 }));
    for (const [name, count] of spread(shards, 100_000)) {
      assert.ok(count > 4500 && count < 5500, `${name} has ${count}`);
    }
  });

  it("chooses alike in every process, also of another release", () => {
    const choose = makeChooser([
      { name: "eu1", weight: 1 },
      { name: "eu2", weight: 2 },
      { name: "eu3", weight: 1 },
    ]);
    assert.deepEqual(["acme", "globex", "initech", "umbrella", "hooli", "stark"].map(choose), [
      "eu2",
      "eu2",
      "eu3",
      "eu2",
      "eu3",
      "eu3",
    ]);
  });

  it("chooses nothing where no shard takes new tenants", () => {
    assert.throws(() => makeChooser([{ name: "eu1", weight: 0 }])("acme"), /no shard takes new tenants/);
    assert.equal(makeChooser([{ name: "eu1", weight: 0.001 }])("acme"), "eu1");
  });

  it("gives a shard of weight 2 twice as many as one of weight 1, and one of weight 0 none", () => {
    const counts = spread(
      [
        { name: "one", weight: 1 },
        { name: "two", weight: 2 },
        { name: "none", weight: 0 },
      ],
      90_000,
    );
    assert.equal(counts.get("none"), 0);
    assert.ok(Math.abs((counts.get("one") ?? 0) - 30_000) < 1000, `${counts.get("one")}`);
    assert.ok(Math.abs((counts.get("two") ?? 0) - 60_000) < 1000, `${counts.get("two")}`);
  });

  it("moves a new shard's part to it, and no tenant between the others", () => {
    const before = makeChooser(["a", "b", "c"].map((name) => ({ name, weight: 1 })));
    const after = makeChooser(["a", "b", "c", "d"].map((name) => ({ name, weight: 1 })));
    let moved = 0;
    for (let n = 0; n < 40_000; n++) {
      const [from, to] = [before(`t${n}`), after(`t${n}`)];
      if (from === to) continue;
      assert.equal(to, "d");
      moved++;
    }
    assert.ok(Math.abs(moved - 10_000) < 1000, `${moved}`);
  });
});
