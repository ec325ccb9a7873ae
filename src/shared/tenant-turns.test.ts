import assert from "node:assert/strict";
import { it } from "node:test";
import { tenant } from "../../test/support/two-tenants.ts";
import { makeTenantTurns } from "./tenant-turns.ts";

const [A, B, C, D] = ["a", "b", "c", "d"].map(tenant);

it("tenants that wait share turns, and who came meanwhile has one in the next pass", async () => {
  let waiting = [A, B, C];
  const turns = makeTenantTurns(() => Promise.resolve(waiting.flatMap((each) => each ?? [])), 2);
  assert.deepEqual(await turns.next(), [A, B]);
  waiting = [A, D];
  assert.equal(turns.end(false), true);
  assert.deepEqual(await turns.next(), [C]);
  assert.equal(turns.end(false), false);
  assert.deepEqual(await turns.next(), [A, D]);
  assert.equal(turns.end(false), false);
  waiting = [];
  assert.deepEqual(await turns.next(), []);
  assert.equal(turns.end(false), false);
});

it("turns of a pass have as many tenants each", async () => {
  const waiting = Array.from({ length: 51 }, (_, n) => tenant(`t-${n}`));
  const turns = makeTenantTurns(() => Promise.resolve([...waiting]), 50);
  assert.deepEqual([(await turns.next()).length, (await turns.next()).length], [26, 25]);
});

it("a pass in which one has more is followed by another at once, whoever was last", async () => {
  const turns = makeTenantTurns(() => Promise.resolve([tenant("a"), tenant("b")]), 1);
  await turns.next();
  assert.equal(turns.end(true), true);
  await turns.next();
  assert.equal(turns.end(false), true);
  // What was said counts for its own pass.
  await turns.next();
  assert.equal(turns.end(false), true);
  await turns.next();
  assert.equal(turns.end(false), false);
});
