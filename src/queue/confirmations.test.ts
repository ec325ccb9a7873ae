import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Confirmations } from "./confirmations.ts";

/** An answer that came 10 ms after it was asked for. */
function note(confirmations: Confirmations, registered: string, askedAtMs: number): boolean {
  return confirmations.note(registered, { askedAtMs, nowMs: askedAtMs + 10 });
}

describe("a worker's confirmations", () => {
  it("confirm nothing before the first one", () => {
    const confirmations = new Confirmations();
    assert.equal(confirmations.isConfirmed(0), false);
    assert.equal(confirmations.unbrokenSinceMs, -Infinity);
    assert.equal(confirmations.registeredAtMs, Infinity);
  });

  it("count from when they were asked for, for less than 3 seconds", () => {
    const confirmations = new Confirmations();
    assert.equal(confirmations.note("a", { askedAtMs: 1000, nowMs: 2500 }), true);
    assert.equal(confirmations.isConfirmed(3999), true);
    assert.equal(confirmations.isConfirmed(4000), false);
  });

  it("are unbroken while each comes before the last one runs out", () => {
    const confirmations = new Confirmations();
    note(confirmations, "a", 1000);
    assert.equal(note(confirmations, "a", 3000), true);
    assert.equal(note(confirmations, "a", 5000), true);
    assert.equal(confirmations.unbrokenSinceMs, 1000);
    assert.equal(confirmations.registeredAtMs, 1000);
    assert.equal(confirmations.isConfirmed(7999), true);
  });

  it("begin anew after a break, under the same registration", () => {
    const confirmations = new Confirmations();
    note(confirmations, "a", 1000);
    // Asked for in time, answered too late.
    assert.equal(confirmations.note("a", { askedAtMs: 3500, nowMs: 4000 }), true);
    assert.equal(confirmations.unbrokenSinceMs, 3500);
    assert.equal(confirmations.registeredAtMs, 1000);
  });

  it("begin anew at another registration, which others made necessary", () => {
    const confirmations = new Confirmations();
    note(confirmations, "a", 1000);
    assert.equal(note(confirmations, "b", 2000), false);
    assert.equal(confirmations.unbrokenSinceMs, 2000);
    assert.equal(confirmations.registeredAtMs, 2000);
    assert.equal(note(confirmations, "b", 3000), true);
    assert.equal(confirmations.unbrokenSinceMs, 2000);
  });

  it("end with the session, and continue nothing after it", () => {
    const confirmations = new Confirmations();
    note(confirmations, "a", 1000);
    confirmations.lose();
    assert.equal(confirmations.isConfirmed(1001), false);
    assert.equal(note(confirmations, "a", 1500), true);
    assert.equal(confirmations.unbrokenSinceMs, 1500);
    assert.equal(confirmations.registeredAtMs, 1000);
    assert.equal(confirmations.isConfirmed(1600), true);
  });
});
