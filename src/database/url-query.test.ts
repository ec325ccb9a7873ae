import assert from "node:assert/strict";
import { it } from "node:test";
import { queryOf } from "./url-query.ts";

it("the parameters of a connection string are behind its first question mark, whatever hosts it lists", () => {
  for (const [url, entries] of [
    ["postgres://user@a,b/postern", []],
    ["postgres://user@a,b/postern?", []],
    [
      "postgres://user@a,b/postern?sslmode=require&options=-c%20x%3Dy?",
      [
        ["sslmode", "require"],
        ["options", "-c x=y?"],
      ],
    ],
  ] as const)
    assert.deepEqual([...queryOf(url)], entries, url);
});
