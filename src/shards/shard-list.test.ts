import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { maskShards, parseShardList } from "./shard-list.ts";

const listOf = (count: number) =>
  Array.from({ length: count }, (_, n) => `s${n}=postgres://a/x${n}`).join("|");

describe("parseShardList", () => {
  it("reads names, databases and weights, in their order", () => {
    const text =
      "eu1=postgres://a/x | eu-2*3=postgresql://b,c/y?sslmode=require|us*1000=postgres://d/x|old*0=postgres://e/x";
    assert.deepEqual(parseShardList(text), {
      shards: [
        { name: "eu1", url: "postgres://a/x", weight: 1 },
        { name: "eu-2", url: "postgresql://b,c/y?sslmode=require", weight: 3 },
        { name: "us", url: "postgres://d/x", weight: 1000 },
        { name: "old", url: "postgres://e/x", weight: 0 },
      ],
    });
  });

  it("reads 100 shards, and no more", () => {
    const parsed = parseShardList(listOf(100));
    assert.equal("shards" in parsed && parsed.shards.length, 100);
    assert.deepEqual(parseShardList(listOf(101)), { fault: "names more than 100 shards" });
  });

  const faults: [text: string, fault: RegExp][] = [
    ["postgres://a/x", /entry 1 is not/],
    ["eu1=postgres://a/x|", /entry 2 is not/],
    ["Eu1=postgres://a/x", /entry 1 is not/],
    ["eu1=mysql://a/x", /entry 1 is not/],
    ["eu1*1001=postgres://a/x", /weight above 1000/],
    ["eu1=postgres://a/x?sslmod=require", /^has a database for eu1 that .*sslmode/],
    ["eu1=postgres://u:p@a/x,eu2=postgres://u:p@b/y", /^has a database for eu1 that holds more than one URL/],
    ["eu1*0=postgres://a/x", /every shard the weight 0/],
    ["eu1=postgres://a/x|eu1=postgres://a/y", /names eu1 twice/],
    ["eu1=postgres://a/x|eu2=postgres://a/x", /names one database twice: eu2/],
  ];
  for (const [text, fault] of faults) {
    it(`refuses ${text}`, () => {
      const parsed = parseShardList(text);
      assert.match("fault" in parsed ? parsed.fault : "", fault);
    });
  }

  it("names no password in a fault", () => {
    const parsed = parseShardList("eu1=postgres://u:hidden@a/x|eu1=postgres://u:hidden@b/x|nonsense:hidden");
    assert.ok("fault" in parsed && !parsed.fault.includes("hidden"));
  });
});

describe("maskShards", () => {
  it("masks each database, and what is no entry whole", () => {
    const masked = maskShards("eu1=postgres://u:p@a/x|p", () => "masked");
    assert.equal(masked, "eu1=masked|********");
  });
});
