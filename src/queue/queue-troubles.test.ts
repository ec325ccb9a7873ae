import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { QUIET } from "../../test/support/quiet-queue.ts";
import { queueTroubles } from "./queue-troubles.ts";

describe("queueTroubles", () => {
  const healthy: [string, Partial<typeof QUIET>][] = [
    ["an empty queue", {}],
    ["a due dispatch that a worker is about to claim", { due: 1, longestWaitS: 0.2, oldestDueAgeS: 0.2 }],
    ["a slow endpoint: due for hours, put back again and again", { scheduled: 900, oldestDueAgeS: 7200 }],
    ["held dispatches of a disabled endpoint", { held: 5000 }],
    ["a backlog that workers are taking", { due: 100_000, leased: 5000, longestWaitS: 300 }],
    ["what a long transaction published", { outboxWaiting: 500, outboxOldestAgeS: 300 }],
    ["a pause as short as a worker's start", { due: 10, longestWaitS: 30 }],
  ];
  for (const [name, depth] of healthy) {
    it(`finds none in ${name}`, () =>
      assert.deepEqual(queueTroubles({ ...QUIET, ...depth }), { reasons: [], warnings: [] }));
  }

  const troubled: [string, Partial<typeof QUIET>, RegExp[]][] = [
    [
      "due dispatches that no worker claims",
      { due: 3, longestWaitS: 31 },
      [/^no worker claims due dispatches: 3, .* 31 s.*start one/],
    ],
    [
      "leases that ended long ago",
      { due: 2, leased: 7, longestWaitS: 61, deadLeases: 2 },
      [/^2 leases .*ended more than 60 s ago/],
    ],
    [
      "events that no worker relays",
      { outboxWaiting: 4, outboxOldestAgeS: 301 },
      [/^events from SQL have waited 301 s .* more than 300: 4 events; start or add a worker/],
    ],
    ["leases of dead workers only", { due: 2, longestWaitS: 61, deadLeases: 2 }, [/^no worker/, /^2 leases/]],
  ];
  for (const [name, depth, reasons] of troubled) {
    it(`names ${name}`, () => {
      const { reasons: found, warnings } = queueTroubles({ ...QUIET, ...depth });
      assert.deepEqual(warnings, []);
      assert.equal(found.length, reasons.length, found.join("\n"));
      for (const [index, reason] of reasons.entries()) assert.match(found[index] ?? "", reason);
    });
  }

  it("only warns of a backlog that comes faster than workers take it, which one tenant can cause", () => {
    const { reasons, warnings } = queueTroubles({ ...QUIET, due: 9, leased: 5, longestWaitS: 301 });
    assert.deepEqual(reasons, []);
    assert.match(
      warnings.join(),
      /^due dispatches have waited 301 s for a worker, more than 300: .*add workers/,
    );
  });
});
