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

  it("counts as behind what has been busy for five seconds, and not what was a moment less", () => {
    const pace = { ...newPace(0), busySinceMs: 1000 };
    assert.equal(capacityOf(pace, OPEN, 5999), 2000);
    assert.equal(capacityOf(pace, OPEN, 6000), 8);
  });

  it("is in whole dispatches, of a width and of a pace that are not", () => {
    const pace = { ...newPace(0), busySinceMs: 0 };
    assert.equal(capacityOf(pace, { ...OPEN, width: 8.9 }, 5000), 8);
    for (let n = 0; n < 19; n++) noteFinished(pace, n);
    assert.equal(capacityOf(pace, OPEN, 5000), 9);
  });

  it("goes by the better of two windows of ten seconds, which follow each other without a gap", () => {
    const behind = { ...OPEN, isBacklogged: true };
    const pace = newPace(500);
    for (let n = 0; n < 100; n++) noteFinished(pace, 1000);
    assert.equal(capacityOf(pace, behind, 10_499), 50);
    for (let n = 0; n < 40; n++) noteFinished(pace, 10_500);
    assert.equal(capacityOf(pace, behind, 15_000), 50, "the window before");
    // Looked at late in its second window, the third begins in time all the same.
    assert.equal(capacityOf(pace, behind, 20_499), 50);
    assert.equal(capacityOf(pace, behind, 20_500), 20);
    assert.equal(capacityOf(pace, behind, 30_499), 20);
    assert.equal(capacityOf(pace, behind, 30_500), 4);
  });

  it("forgets both windows after a break as long as two", () => {
    const behind = { ...OPEN, isBacklogged: true };
    const pace = newPace(0);
    for (let n = 0; n < 100; n++) noteFinished(pace, 9000);
    assert.equal(capacityOf({ ...pace }, behind, 19_999), 50);
    assert.equal(capacityOf(pace, behind, 20_000), 4);
  });
});
