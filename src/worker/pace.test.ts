import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { capacityOf, newPace, noteFinished } from "./pace.ts";

const OPEN = { width: 8, perSecond: null, isBacklogged: false };

describe("a lane's capacity", () => {
  it("is large for a lane that keeps up, however little it sends", () => {
    const pace = newPace(0);
    noteFinished(pace, 10);
    assert.equal(capacityOf(pace, OPEN, 60_000), 2000);
  });

  it("is no less than its pace as it keeps up again after a backlog", () => {
    const pace = newPace(0);
    for (let n = 0; n < 6000; n++) noteFinished(pace, n);
    assert.equal(capacityOf(pace, { ...OPEN, isBacklogged: true }, 6000), 3000);
    assert.equal(capacityOf(pace, OPEN, 6000), 3000);
  });

  it("is what it finishes in five seconds once it has been behind for so long", () => {
    const pace = { ...newPace(0), busySinceMs: 0 };
    for (let n = 0; n < 3000; n++) noteFinished(pace, n * 3);
    assert.equal(capacityOf(pace, OPEN, 9999), 1500);
    assert.equal(capacityOf(pace, OPEN, 15_000), 1500);
    assert.equal(capacityOf(pace, OPEN, 30_000), 8, "nothing finished for ten seconds");
  });

  it("is what its rate limit lets it send in five seconds, from the beginning", () => {
    assert.equal(capacityOf(newPace(0), { ...OPEN, perSecond: 50 }, 0), 250);
    assert.equal(capacityOf(newPace(0), { ...OPEN, perSecond: 1 }, 0), 8);
  });

  it("begins small for a backlogged lane, and has an upper bound", () => {
    const pace = newPace(0);
    assert.equal(capacityOf(pace, { ...OPEN, isBacklogged: true }, 0), 4);
    for (let n = 0; n < 50_000; n++) noteFinished(pace, n / 10);
    assert.equal(capacityOf(pace, { ...OPEN, isBacklogged: true }, 5000), 10_000);
  });
});
