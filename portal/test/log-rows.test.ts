/** Rows that were read, and deliveries that came since. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { added, MAX_WAITING, merge, NOTHING, readRows, type Tail } from "../src/pages/log/log-rows.ts";

type Row = { id: string; status: string };

const NONE: Tail<Row> = NOTHING;
const row = (id: string, status = "delivered"): Row => ({ id, status });
const idsOf = (rows: readonly Row[]) => rows.map(({ id, status }) => `${id} ${status}`);
const NO_OUTCOMES = new Map<string, Row>();
const wanted = { isAwaited: false, isWanted: true };
const awaited = { isAwaited: true, isWanted: false };

describe("a delivery that comes", () => {
  it("waits in front of those that came before it, once", () => {
    const came = [row("1"), row("2"), row("1", "failed")];
    const { waiting, outcomes, isGapped } = came.reduce((tail, one) => added(tail, one, wanted), NONE);
    assert.deepEqual(idsOf(waiting), ["2 delivered", "1 delivered"]);
    assert.deepEqual([outcomes.size, isGapped], [0, false]);
  });

  it("does not wait where it is not wanted, and is the outcome of the row that awaits it", () => {
    const nothing = added(NONE, row("1"), { isAwaited: false, isWanted: false });
    assert.deepEqual([nothing.waiting, nothing.outcomes.size], [[], 0]);
    const outcome = added(NONE, row("1", "failed"), awaited);
    assert.deepEqual([outcome.waiting, outcome.outcomes.get("1")?.status], [[], "failed"]);
    assert.deepEqual([...added(outcome, row("2"), awaited).outcomes.keys()], ["1", "2"]);
    assert.equal(NONE.outcomes.size, 0, "what was before stays as it was");
  });

  it("is a gap where so many wait already, and still the outcome of a row", () => {
    const ids = Array.from({ length: MAX_WAITING }, (_, n) => String(n));
    const full = ids.reduce((tail, id) => added(tail, row(id), wanted), NONE);
    assert.deepEqual([full.waiting.length, full.isGapped], [MAX_WAITING, false]);
    const more = added(full, row("more"), { isAwaited: true, isWanted: true });
    assert.deepEqual(
      [more.waiting.length, more.isGapped, more.outcomes.has("more")],
      [MAX_WAITING, true, true],
    );
    assert.equal(added(full, row("7"), wanted).isGapped, false, "one that waits already is none");
  });
});

describe("the rows of the log", () => {
  it("are those of all pages in their order, a pending one with the outcome that came meanwhile", () => {
    const pages = [{ rows: [row("4", "pending"), row("3", "failed")] }, { rows: [row("2", "pending")] }];
    assert.deepEqual(idsOf(readRows(pages, [row("4"), row("3")])), ["4 delivered", "3 failed", "2 pending"]);
  });

  it("have what the person took in its place, once, and outcomes in place", () => {
    const read = [row("6", "pending"), row("4"), row("2", "pending")];
    const outcomes = new Map([["2", row("2", "failed")]]);
    assert.deepEqual(idsOf(merge([row("7"), row("4"), row("5"), row("3")], read, outcomes)), [
      "7 delivered",
      "6 pending",
      "5 delivered",
      "4 delivered",
      "3 delivered",
      "2 failed",
    ]);
  });

  it("stay in the order in which they were read where nothing was taken", () => {
    assert.deepEqual(idsOf(merge([], [row("1"), row("2")], NO_OUTCOMES)), ["1 delivered", "2 delivered"]);
  });
});
