import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newEndpointId } from "../shared/id.ts";
import { addUpParts } from "./bucket-parts.ts";

const [one, two] = [newEndpointId(), newEndpointId()];

describe("addUpParts", () => {
  it("adds up what several texts have of an endpoint's bucket, and keeps endpoints and buckets apart", () => {
    const found = addUpParts([
      { endpointId: one, parts: "3600,2,1,2,30,20,7200,0,1,0,0,0" },
      { endpointId: two, parts: "3600,1,0,1,5,5" },
      { endpointId: one, parts: "3600,1,0,1,12,12" },
    ]);
    assert.deepEqual(
      found,
      new Map([
        [
          one,
          [
            { atMs: 3_600_000, delivered: 3, failed: 1, latencyAvgMs: 14, latencyMaxMs: 20 },
            { atMs: 7_200_000, delivered: 0, failed: 1, latencyAvgMs: null, latencyMaxMs: null },
          ],
        ],
        [two, [{ atMs: 3_600_000, delivered: 1, failed: 0, latencyAvgMs: 5, latencyMaxMs: 5 }]],
      ]),
    );
  });
});
