import assert from "node:assert/strict";
import { it } from "node:test";
import { Suspects } from "./suspects.ts";

const silent = { firstLeaseId: "a", seenAt: "1", isDead: false };

it("counts a worker as dead that was silent under its eyes for long enough", () => {
  const suspects = new Suspects(4000);
  for (let nowMs = 0; nowMs < 4000; nowMs += 500) assert.deepEqual(suspects.note([silent], nowMs), []);
  assert.deepEqual(suspects.note([silent], 4000), ["a"]);
});

it("restarts when the worker was seen, held its lock, or was not observed", () => {
  const returns: [string, (suspects: Suspects) => void][] = [
    ["seen", (suspects) => void suspects.note([{ ...silent, seenAt: "2" }], 3000)],
    ["held", (suspects) => void suspects.note([], 3000)],
    ["forgotten", (suspects) => suspects.forget()],
    ["unwatched", () => undefined],
  ];
  for (const [name, happens] of returns) {
    const suspects = new Suspects(4000);
    suspects.note([silent], 0);
    happens(suspects);
    assert.deepEqual(suspects.note([silent], 4500), [], name);
  }
});

it("leaves those to others that are known to be dead", () => {
  const suspects = new Suspects(0);
  assert.deepEqual(suspects.note([{ ...silent, isDead: true }], 0), []);
});

it("takes what it looks at every three seconds for watched, and nothing less", () => {
  for (const [gapMs, dead] of [
    [3000, ["a"]],
    [3001, []],
  ] as const) {
    const suspects = new Suspects(4000);
    for (const nowMs of [0, gapMs]) suspects.note([silent], nowMs);
    assert.deepEqual(suspects.note([silent], gapMs + 1000), dead);
  }
});
