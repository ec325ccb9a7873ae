import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pino } from "pino";
import { makeMetrics } from "../telemetry/metrics.ts";
import { loadCatalog } from "./catalog.ts";
import { makeCatalogWatch } from "./catalog-watch.ts";
import type { CatalogLook } from "./live-catalog.ts";

const current = await loadCatalog(undefined);

/** What a watch says of a file of which one look finds this. */
async function told(found: CatalogLook | Error) {
  const lines: Record<string, unknown>[] = [];
  const metrics = makeMetrics();
  metrics.catalogRefused.set(7);
  let looks = 0;
  const watch = makeCatalogWatch({
    catalog: {
      current: () => current,
      isRefused: () => found instanceof Error || found.kind === "refused",
      look() {
        looks++;
        return found instanceof Error ? Promise.reject(found) : Promise.resolve(found);
      },
    },
    log: pino({ base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line)) }),
    metrics,
  });
  watch.start();
  await watch.stop();
  assert.equal(looks, 1);
  const [reads, refused] = [await metrics.catalogReads.get(), await metrics.catalogRefused.get()];
  return {
    lines,
    reads: reads.values.map(({ labels, value }) => [labels.outcome, value]),
    refused: refused.values[0]?.value,
  };
}

describe("the watch of a catalog's file", () => {
  it("says nothing of a file that stays as it is", async () => {
    assert.deepEqual(await told({ kind: "unchanged" }), { lines: [], reads: [], refused: 7 });
  });

  it("tells that a changed file is in force, in the log and in metrics", async () => {
    assert.deepEqual(await told({ kind: "read" }), {
      lines: [{ level: 30, types: current.types.size, msg: "the event catalog was read again" }],
      reads: [["read", 1]],
      refused: 0,
    });
  });

  it("tells why a changed file is refused", async () => {
    const msg = "the changed event catalog is refused; the former one stays in force";
    assert.deepEqual(await told({ kind: "refused", fault: "FILE:1: no array" }), {
      lines: [{ level: 50, fault: "FILE:1: no array", msg }],
      reads: [["refused", 1]],
      refused: 1,
    });
  });

  it("tells of a look that failed, and counts nothing", async () => {
    const { lines, reads, refused } = await told(new Error("no luck"));
    assert.deepEqual(
      lines.map(({ level, msg, err }) => [level, msg, Object(err).message]),
      [[50, "looking at the event catalog failed", "no luck"]],
    );
    assert.deepEqual([reads, refused], [[], 7]);
  });
});
