import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { holdWaits, releaseWaits } from "../../../test/support/held-waits.ts";
import { whileAnswering } from "./move-databases.ts";

const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));

afterEach(releaseWaits);

describe("a database that falls silent", () => {
  it("fails the work under way after ten seconds, and no more once it has succeeded", async (test) => {
    let now = 5000;
    test.mock.method(performance, "now", () => now);
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const waits = holdWaits();
    const pass = (ms: number) => {
      now += ms;
      test.mock.timers.tick(ms);
      return settled();
    };
    const silences: string[] = [];
    let looks = 0;
    const query = () => {
      looks++;
      return new Promise<never>(() => undefined);
    };
    const work = Promise.withResolvers<string>();
    const working = whileAnswering(
      { name: "eu1", db: { query } },
      (name) => silences.push(name),
      () => work.promise,
    );
    await pass(9999);
    assert.deepEqual(silences, []);
    await pass(1);
    assert.deepEqual(silences, ["eu1"]);
    waits[0]?.end();
    await settled();
    assert.equal(looks, 2);
    work.resolve("done");
    await settled();
    // The look under way is waited for, until it is given up.
    await pass(10_000);
    assert.deepEqual([await working, silences], ["done", ["eu1"]]);
  });
});
