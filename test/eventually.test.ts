/** Waiting in tests: what counts as found, and how a wait in vain ends. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { eventually } from "./support/eventually.ts";

it("a wait ends with what the look found", async () => {
  let looks = 0;
  assert.deepEqual(await eventually(async () => ++looks === 3 && { looks }), { looks: 3 });
});

it("a wait for a look that hangs ends, and names what it waited for", async (test) => {
  test.mock.timers.enable({ apis: ["setTimeout"] });
  const waiting = eventually(() => new Promise<boolean>(() => undefined));
  test.mock.timers.tick(60_000);
  await assert.rejects(waiting, /^Error: waited 60 s in vain for: \(\) => new Promise/);
});

it("a wait for a look that answers at once ends too", async (test) => {
  let nowMs = 0;
  test.mock.method(performance, "now", () => (nowMs += 5000));
  await assert.rejects(
    eventually(async () => false),
    /^Error: waited 60 s in vain for: async \(\) => false/,
  );
});

it("a count and a list are no answer to wait for", () => {
  const unused = [
    // @ts-expect-error 0 would be found
    () => eventually(async (): Promise<number | null> => 0),
    // @ts-expect-error the empty list would be found
    () => eventually(async (): Promise<string[]> => []),
    () => eventually(async (): Promise<string[] | false> => false),
  ];
  assert.equal(unused.length, 3);
});
