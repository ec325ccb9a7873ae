import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isForgotten } from "../../test/support/forgotten.ts";
import { makeFairTurns } from "./fair-turns.ts";

/** Until all that can start has started. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const fail = () => Promise.reject(new Error("failed"));

/** Work that ends when it is told to, in a log of what started. */
function workOf(turns: ReturnType<typeof makeFairTurns<string>>) {
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const ask = (name: string): Promise<string> =>
    turns.run(name.slice(0, 1), () => {
      started.push(name);
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error)));
      return promise;
    });
  const end = async (name: string, error?: Error): Promise<void> => {
    const finish = ends.get(name);
    assert.ok(finish !== undefined, `${name} has not started`);
    finish(error);
    await settle();
  };
  return { started, ask, end };
}

describe("fair turns", () => {
  it("give no key more than its share, and the others what is free", async () => {
    const { started, ask, end } = workOf(makeFairTurns({ total: 4, share: 2 }));
    const asked = ["a1", "a2", "a3", "a4", "b1", "c1", "c2"].map(ask);
    await settle();
    assert.deepEqual(started, ["a1", "a2", "b1", "c1"]);
    await end("b1");
    assert.deepEqual(started.slice(4), ["c2"]);
    await end("a1");
    assert.deepEqual(started.slice(5), ["a3"]);
    for (const name of ["a2", "a3", "c1", "c2", "a4"]) await end(name);
    assert.deepEqual(await Promise.all(asked), ["a1", "a2", "a3", "a4", "b1", "c1", "c2"]);
  });

  it("give a key that has its share one more for each that ends, though others are free", async () => {
    const { started, ask, end } = workOf(makeFairTurns({ total: 9, share: 2 }));
    const asked = ["a1", "a2", "a3", "a4", "a5"].map(ask);
    await settle();
    for (const [index, name] of ["a1", "a2", "a3", "a4", "a5"].entries()) {
      assert.equal(started.length, Math.min(index + 2, 5));
      await end(name);
    }
    await Promise.all(asked);
  });

  it("forget a key that has none and waits for none", async () => {
    const turns = makeFairTurns<object>({ total: 1, share: 1 });
    assert.ok(
      await isForgotten(async (key) => {
        const both = [turns.run(key, settle), turns.run(key, settle)];
        await Promise.all(both);
        await assert.rejects(turns.run(key, fail), /failed/);
      }),
    );
  });

  it("are waited for no longer than asked, and a wait that is over takes nobody's turn", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const patience = { ms: 1000, late: () => new Error("too late") };
    const { started, ask, end } = workOf(makeFairTurns({ total: 1, share: 1 }, patience));
    const [first, late, alsoLate] = ["a1", "a2", "b1"].map(ask);
    const refused = [late, alsoLate].map((one) => assert.rejects(Promise.resolve(one), /too late/));
    await settle();
    test.mock.timers.tick(999);
    const inTime = ["a3", "b2"].map(ask);
    test.mock.timers.tick(1);
    await Promise.all(refused);
    for (const name of ["a1", "a3", "b2"]) {
      assert.equal(started.at(-1), name);
      // One that has begun takes as long as it takes.
      test.mock.timers.tick(name === "b2" ? 5000 : 400);
      await end(name);
    }
    assert.deepEqual(await Promise.all([first, ...inTime]), ["a1", "a3", "b2"]);
  });

  it("are not lost to one whose wait is over in the moment in which its turn comes", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const patience = { ms: 1000, late: () => new Error("too late") };
    const { started, ask, end } = workOf(makeFairTurns({ total: 1, share: 1 }, patience));
    const [first, late] = ["a1", "a2"].map(ask);
    await settle();
    const ended = end("a1");
    test.mock.timers.tick(1000);
    await assert.rejects(Promise.resolve(late), /too late/);
    await Promise.all([ended, first]);
    const next = ask("b1");
    await settle();
    assert.deepEqual(started, ["a1", "b1"]);
    await end("b1");
    await next;
  });

  it("serve waiting keys in turn, however many requests one has", async () => {
    const { started, ask, end } = workOf(makeFairTurns({ total: 1, share: 1 }));
    const asked = ["a1", "a2", "a3", "b1", "b2", "c1"].map(ask);
    await settle();
    for (const name of ["a1", "a2", "b1", "c1", "a3", "b2"]) {
      assert.equal(started.at(-1), name);
      await end(name);
    }
    await Promise.all(asked);
  });

  it("pass on when work fails", async () => {
    const { started, ask, end } = workOf(makeFairTurns({ total: 1, share: 1 }));
    const first = ask("a1");
    const second = ask("a2");
    await settle();
    const failed = assert.rejects(first, /lost/);
    await end("a1", new Error("lost"));
    await failed;
    assert.deepEqual(started, ["a1", "a2"]);
    await end("a2");
    assert.equal(await second, "a2");
  });
});
