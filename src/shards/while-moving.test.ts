import assert from "node:assert/strict";
import { it } from "node:test";
import { isMisrouted } from "../database/residence.ts";
import { waitWhileMoving, whileMoving } from "./while-moving.ts";

it("does work again that a tenant's shard refuses, for as long as a switch takes, and then lets the refusal through", async (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  let tries = 0;
  let forgotten = 0;
  const work = async () => {
    if (++tries === 10) throw new Error("it has no end");
    nowMs += 1000;
    throw Object.assign(new Error("the tenant is not here"), { code: "PS001" });
  };
  await assert.rejects(
    whileMoving(work, () => void forgotten++),
    isMisrouted,
  );
  assert.deepEqual([tries, forgotten], [3, 2]);
});

it("does it again at once, since the tenant may have moved long ago, and then with pauses", async () => {
  let tries = 0;
  const done = whileMoving(
    async () => {
      if (++tries < 3) throw Object.assign(new Error("the tenant is not here"), { code: "PS001" });
      return "done";
    },
    () => undefined,
  );
  await new Promise(setImmediate);
  assert.equal(tries, 2);
  assert.equal(await done, "done");
});

it("lets a wait whose tenant moved meanwhile go on for what is left of it, once", async (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  const misrouted = Object.assign(new Error("the tenant is not here"), { code: "PS001" });
  for (const [takenMs, leftMs] of [
    [5000, 15_000],
    [20_001, 0],
  ] as const) {
    const waits: number[] = [];
    const wait = async (ms: number) => {
      waits.push(ms);
      nowMs += takenMs;
      if (waits.length === 1) throw misrouted;
      return "found";
    };
    assert.equal(await waitWhileMoving(20_000, wait), "found");
    assert.deepEqual(waits, [20_000, leftMs]);
  }
  let tries = 0;
  const failing = (error: Error) => () => {
    tries++;
    return Promise.reject(error);
  };
  await assert.rejects(waitWhileMoving(20_000, failing(misrouted)), isMisrouted);
  assert.equal(tries, 2);
  await assert.rejects(waitWhileMoving(20_000, failing(new Error("away"))), /away/);
  assert.equal(tries, 3);
});
