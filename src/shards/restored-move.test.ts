import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tenant } from "../../test/support/two-tenants.ts";
import type { Marks } from "./move-store.ts";
import { faultOfMarks } from "./restored-move.ts";

const marks = (text: string): Marks | null => {
  const [, version, flags] = /^(\d)(.*)$/.exec(text) ?? [];
  if (version === undefined) return null;
  return {
    version: Number(version),
    fenced: flags?.includes("f") === true,
    moving: flags?.includes("m") === true,
  };
};

/** Of a move from eu1 to eu2. Marks as `2fm`: version 2, fenced and moving; `-`: none. */
function judge(switched: boolean | null, [source, target]: [string, string]): string {
  const home = switched === true ? { shard: "eu2", version: 2 } : { shard: "eu1", version: 1 };
  const fault = faultOfMarks(tenant("acme"), switched === null ? null : { switched }, home, {
    first: "eu0",
    source: { name: "eu1", marks: marks(source) },
    target: { name: "eu2", marks: marks(target) },
  });
  return fault ?? "none";
}

describe("the marks of both shards", () => {
  for (const [what, switched, pairs] of [
    ["before a move", null, ["1 -", "- -", "1 1f"]],
    ["of a move that has begun", false, ["1 -", "1 2fm", "1m 2fm", "1fm 2fm"]],
    // The target is opened, then the source's fence gets its version, then the rows are deleted.
    ["of a move that has switched", true, ["1fm 2fm", "1fm 2", "2fm 2", "2f 2", "- 2", "1 2"]],
  ] as const) {
    it(`have no fault ${what}`, () => {
      for (const pair of pairs) {
        const [source = "", target = ""] = pair.split(" ");
        assert.equal(judge(switched, [source, target]), "none", pair);
      }
    });
  }

  for (const [what, switched, pairs, told] of [
    [
      "where the target has what the directory does not know of",
      false,
      ["1 2", "1fm 2", "2f 2m"],
      /^acme lives in eu2 by its own rows.*\n.* a later backup of eu0 /,
    ],
    ["and so before a move", null, ["1 2", "2f 3"], /^acme lives in eu2 by its own rows/],
    [
      "where the source has given the tenant away",
      false,
      ["1f 2fm", "2fm 2fm", "2f 2fm", "2f -"],
      /^acme has left eu1 by its own rows.*\n.* a later backup of eu0 /,
    ],
    ["and so before a move", null, ["1f -", "2f -", "2fm -"], /^acme has left eu1 by its own rows/],
    [
      "where the source was restored to a moment behind the fence of a move that was undone",
      null,
      ["1fm -", "1fm 2fm"],
      /^acme waits in eu1 for a move that is over: .*\nRun the command with --undo first\.$/,
    ],
    [
      "where the target lacks what the directory knows of",
      true,
      ["1fm -", "2fm -", "1fm 1", "2fm 1", "2fm 2fm", "2f 2fm", "2fm 3fm"],
      /^acme lives in eu2 by the directory, and eu2 lacks .*\n.* a later backup of eu2 /,
    ],
  ] as const) {
    it(`are a fault ${what}`, () => {
      for (const pair of pairs) {
        const [source = "", target = ""] = pair.split(" ");
        assert.match(judge(switched, [source, target]), told, pair);
      }
    });
  }
});
