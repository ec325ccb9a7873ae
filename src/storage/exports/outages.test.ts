import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newExportId } from "../../shared/id.ts";
import { Outages } from "./outages.ts";

describe("outages of exports", () => {
  it("last from the first run that ended so, and anew from one before which a part was staged", () => {
    const outages = new Outages();
    const [id, other] = [newExportId(), newExportId()];
    assert.deepEqual(
      [outages.meet(id, 0, 100), outages.meet(id, 0, 130), outages.meet(id, 0, 190)],
      [0, 30, 90],
    );
    assert.equal(outages.meet(other, 0, 190), 0);
    assert.deepEqual([outages.meet(id, 1, 200), outages.meet(id, 1, 250)], [0, 50]);
  });

  it("of exports that other processes have ended take no more room with the years", () => {
    const outages = new Outages();
    const waiting = newExportId();
    outages.meet(waiting, 0, 0);
    for (let nowMs = 1; nowMs <= 3000; nowMs++) {
      outages.meet(newExportId(), 0, nowMs);
      if (nowMs % 500 === 0) assert.equal(outages.meet(waiting, 0, nowMs), nowMs);
    }
    assert.equal(outages.size, 1000);
  });
});
