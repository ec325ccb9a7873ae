import assert from "node:assert/strict";
import { it } from "node:test";
import { ConfigError } from "../shared/config-error.ts";
import { requireAll } from "./compare-copy.ts";

const COUNTS = { endpoints: 1, dispatches: 2, events: 30, deliveries: 40 };

it("a copy has all that is needed, and may have more", () => {
  requireAll(COUNTS, COUNTS, "eu2");
  requireAll(COUNTS, { endpoints: 2, dispatches: 3, events: 31, deliveries: 41 }, "eu2");
});

it("a copy that lacks rows is refused with how many of which, and with what to do", () => {
  const error = new ConfigError(
    "The copy in eu2 lacks 1 of 2 dispatches, 4 of 40 deliveries.\nUndo the move with --undo and begin again: the tenant is where it was.",
  );
  assert.throws(
    () => requireAll(COUNTS, { ...COUNTS, dispatches: 1, deliveries: 36, events: 31 }, "eu2"),
    error,
  );
  for (const name of ["endpoints", "dispatches", "events", "deliveries"] as const)
    assert.throws(() => requireAll(COUNTS, { ...COUNTS, [name]: COUNTS[name] - 1 }, "eu2"), ConfigError);
});
