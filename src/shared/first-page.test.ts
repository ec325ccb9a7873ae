import assert from "node:assert/strict";
import { it } from "node:test";
import { firstPage } from "./first-page.ts";

it("the next page begins behind the last row of one of which more was read", () => {
  assert.deepEqual(firstPage([1, 2, 3], 2), { rows: [1, 2], last: 2 });
  assert.deepEqual(firstPage([1, 2], 2), { rows: [1, 2], last: undefined });
  assert.deepEqual(firstPage([], 2), { rows: [], last: undefined });
});
