/** Which version of an event type an endpoint gets, and what it may choose. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadModule } from "./support/page.ts";

type EventType = {
  type: string;
  version: number;
  preview: boolean;
  title: string;
  description: string;
  group: string;
};
type Choice = { pattern: string; entry: EventType; isVersion: boolean };

const { versionFor, versionedName, newestOf } = await loadModule<{
  versionFor: (patterns: readonly string[], versions: readonly EventType[]) => number | null;
  versionedName: (entry: EventType, versions: readonly EventType[]) => string;
  newestOf: (versions: readonly EventType[]) => EventType | undefined;
}>("endpoints/subscription.ts");
const { choicesOf, isMatch, prefixOf } = await loadModule<{
  choicesOf: (entries: readonly EventType[]) => Choice[];
  isMatch: (choice: Choice, q: string) => boolean;
  prefixOf: (type: string) => string;
}>("endpoints/event-choices.ts");

const entry = (version: number, preview = false, type = "order.line.placed"): EventType => ({
  type,
  version,
  preview,
  title: "A line came",
  description: "Somebody wants it",
  group: "Trade",
});
const VERSIONS = [entry(1), entry(2), entry(3, true)];
const PREVIEWS = [entry(1, true), entry(2, true)];

describe("the version of an event type that an endpoint gets", () => {
  it("is the newest that is no preview, by any pattern that names no version", () => {
    for (const pattern of ["*", "order.*", "order.line.*", "order.line.placed"])
      assert.equal(versionFor([pattern], VERSIONS), 2, pattern);
    for (const pattern of ["ord.*", "order.line.placed.*", "order", "order.line.placed@4"])
      assert.equal(versionFor([pattern], VERSIONS), null, pattern);
    assert.equal(versionFor(["*"], PREVIEWS), null);
    assert.equal(newestOf(PREVIEWS), undefined);
    // A prefix ends with its dot.
    assert.equal(versionFor(["order.*"], [entry(1, false, "orders.placed")]), null);
  });

  it("is the greatest that is named, before any other pattern, a preview as well", () => {
    assert.equal(versionFor(["*", "order.line.placed@1"], VERSIONS), 1);
    assert.equal(versionFor(["order.line.placed@1", "order.line.placed@3"], VERSIONS), 3);
    assert.equal(versionFor(["order.line.placed@1"], PREVIEWS), 1);
  });

  it("is part of the name where the type alone stands for another", () => {
    const names = VERSIONS.map((one) => versionedName(one, VERSIONS));
    assert.deepEqual(names, ["order.line.placed@1", "order.line.placed", "order.line.placed@3"]);
  });
});

const patternsOf = (entries: readonly EventType[]) =>
  choicesOf(entries).map(({ pattern, entry: { version }, isVersion }) => [pattern, version, isVersion]);

describe("what an endpoint may choose", () => {
  it("is each type, and each version where it has several, the newest first", () => {
    assert.deepEqual(patternsOf([...VERSIONS, entry(1, false, "b")]), [
      ["order.line.placed", 2, false],
      ["order.line.placed@3", 3, true],
      ["order.line.placed@2", 2, true],
      ["order.line.placed@1", 1, true],
      ["b", 1, false],
    ]);
  });

  it("is by its version alone what is a preview", () => {
    assert.deepEqual(patternsOf([entry(1, true)]), [["order.line.placed@1", 1, true]]);
  });

  it("is found by a part of its name, its texts or its group, in letters of any size", () => {
    const choice: Choice = { pattern: "order.line.placed@2", entry: entry(2), isVersion: true };
    for (const q of ["", " LINE.placed@2 ", "line came", "somebody", "trade"])
      assert.ok(isMatch(choice, q), q);
    assert.ok(!isMatch(choice, "order placed"));
  });

  it("is all below the first dot of a type, or the type where there is none", () => {
    assert.equal(prefixOf("order.line.placed"), "order.*");
    assert.equal(prefixOf("order"), "order");
  });
});
