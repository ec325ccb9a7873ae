import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { knowNames, slipOf } from "./slips.ts";

const NAMES = ["url", "events", "enabled", "rate_limit", "headers", "metadata", "description", "secret"];
const known = knowNames(NAMES);
const QUERY = knowNames(["status", "from", "to", "q", "page", "limit", "event_type"]);

const knownName = fc.constantFrom(...NAMES);
const letter = fc.stringMatching(/^[a-z]$/);

describe("slipOf", () => {
  it("finds a name that differs in case, underscores and hyphens alone", () => {
    fc.assert(
      fc.property(
        knownName,
        fc.array(fc.tuple(fc.nat(12), fc.constantFrom("_", "-", "case"))),
        (name, edits) => {
          const other = edits.reduce(
            (text, [at, edit]) =>
              edit === "case"
                ? text.slice(0, at) + text.slice(at, at + 1).toUpperCase() + text.slice(at + 1)
                : text.slice(0, at) + edit + text.slice(at),
            name,
          );
          assert.equal(slipOf(other, known), name);
        },
      ),
    );
  });

  it("finds a name of four letters or more that is one edit or one swap away", () => {
    const long = knownName.filter((name) => name.length > 4);
    fc.assert(
      fc.property(
        long,
        fc.nat(),
        letter,
        fc.constantFrom("add", "drop", "change", "swap"),
        (name, n, by, edit) => {
          const at = n % name.length;
          const [left, right] = [name.slice(0, at), name.slice(at)];
          const edits = {
            add: left + by + right,
            drop: left + right.slice(1),
            change: left + by + right.slice(1),
            swap: left + right.slice(1, 2) + right.slice(0, 1) + right.slice(2),
          };
          assert.equal(slipOf(edits[edit], known), name);
        },
      ),
    );
  });

  it("finds nothing where the lengths differ by two letters or more, unless it is an alias", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{14,60}$/), (name) => {
        const found = slipOf(name, knowNames(["url", "events"]));
        assert.ok(found === null || ["eventfilters", "subscribedevents"].includes(name));
      }),
    );
  });

  it("leaves short names alone, and names that are two slips away", () => {
    for (const name of ["_", "t", "v", "ts", "tt", "fro", "toq", "qq", ""])
      assert.equal(slipOf(name, QUERY), null);
    for (const name of ["ur", "urll", "evts", "evntss", "headings", "x"])
      assert.equal(slipOf(name, known), null, name);
  });

  it("knows the names of other products, however they are written", () => {
    const expected = {
      event: "events",
      event_types: "events",
      filterTypes: "events",
      enabled_events: "events",
      topics: "events",
      active: "enabled",
      disabled: "enabled",
      rateLimit: "rate_limit",
      signing_secret: "secret",
      "Custom-Headers": "headers",
    };
    for (const [name, meant] of Object.entries(expected)) assert.equal(slipOf(name, known), meant, name);
    assert.equal(slipOf("event", QUERY), "event_type");
  });

  it("takes names that objects inherit for what they are", () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"])
      assert.equal(slipOf(name, known), null);
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (name) => assert.doesNotThrow(() => slipOf(name, known))),
    );
  });
});
