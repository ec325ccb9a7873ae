import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { isForgotten } from "../../test/support/forgotten.ts";
import { Places } from "./places.ts";

const none = () => undefined;

describe("places", () => {
  it("are so many of a key, and each can be taken again once it was given back", () => {
    const places = new Places<string>({ total: 5, ofKey: 2 });
    const [first] = [places.take("a", none), places.take("a", none)];
    assert.equal(places.take("a", none), null);
    first?.();
    // A second time it is another's.
    assert.ok(places.take("a", none) !== null);
    first?.();
    assert.equal(places.take("a", none), null);
  });

  it("go from the key that has most, which leaves the one it has had for longest", () => {
    const places = new Places<string>({ total: 5, ofKey: 3 });
    const left: string[] = [];
    const take = (name: string) => places.take(name.charAt(0), () => left.push(name));
    for (const name of ["b1", "b2", "a1", "a2", "a3"]) assert.ok(take(name) !== null);
    assert.ok(take("c1") !== null);
    assert.deepEqual(left, ["a1"]);
    assert.ok(take("c2") === null, "nobody has two more than it");
    assert.ok(take("d1") !== null);
    assert.deepEqual(left, ["a1", "b1"]);
    assert.equal(take("a4"), null);
  });

  it("that were given up are given back once", () => {
    const places = new Places<string>({ total: 2, ofKey: 2 });
    const [first] = [places.take("a", none), places.take("a", none)];
    assert.ok(places.take("b", none) !== null);
    first?.();
    assert.equal(places.take("c", none), null);
  });

  it("are never more than there are, and none is refused while another key has two more", () => {
    const steps = fc.array(fc.record({ key: fc.nat(5), isGivenBack: fc.boolean() }), { maxLength: 200 });
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 6 }),
        (all, total, ofKey) => {
          const places = new Places<number>({ total, ofKey });
          const held: { key: number; giveBack: () => void }[] = [];
          const count = (key: number) => held.filter((one) => one.key === key).length;
          for (const { key, isGivenBack } of all) {
            if (isGivenBack) {
              held
                .splice(
                  held.findIndex((one) => one.key === key),
                  count(key) > 0 ? 1 : 0,
                )[0]
                ?.giveBack();
              continue;
            }
            const most = Math.max(...all.map((one) => count(one.key)));
            const one = { key, giveBack: none };
            const giveBack = places.take(key, () => held.splice(held.indexOf(one), 1));
            const mayRefuse = count(key) >= ofKey || (held.length >= total && most <= count(key) + 1);
            assert.equal(giveBack === null, mayRefuse);
            if (giveBack !== null) held.push(Object.assign(one, { giveBack }));
            assert.ok(held.length <= total);
          }
        },
      ),
    );
  });

  it("forget a key that has none", async () => {
    const places = new Places<object>({ total: 5, ofKey: 2 });
    assert.equal(await isForgotten((key) => places.take(key, none)?.()), true);
    assert.equal(await isForgotten((key) => places.take(key, none)), false);
    // Used once more, so that they are there until then.
    assert.ok(places.take({}, none) !== null);
  });
});
