import assert from "node:assert/strict";
import { it } from "node:test";
import { keepIn } from "./keep-in.ts";

it("work is in the set until it ends, whether it succeeds or fails", async () => {
  const set = new Set<Promise<unknown>>();
  const [one, other] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const works = [keepIn(set, one.promise), keepIn(set, other.promise)];
  assert.equal(set.size, 2);
  one.resolve("done");
  assert.equal(await works[0], "done");
  assert.deepEqual([...set], [other.promise]);
  other.reject(new Error("failed"));
  await assert.rejects(works[1] ?? assert.fail, /failed/);
  assert.equal(set.size, 0);
});
