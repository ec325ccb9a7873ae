import assert from "node:assert/strict";
import { it } from "node:test";
import { isMisrouted } from "../database/residence.ts";
import { whileMoving } from "./while-moving.ts";

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
