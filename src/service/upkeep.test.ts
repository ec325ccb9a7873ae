import assert from "node:assert/strict";
import { it } from "node:test";
import { setImmediate as pause } from "node:timers/promises";
import { freePort } from "../../test/support/free-port.ts";
import { eventually } from "../../test/support/eventually.ts";
import { createPool } from "../database/pool.ts";
import { loadCatalog } from "../events/catalog.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { makeUpkeep } from "./upkeep.ts";
import type { Background } from "../shared/every.ts";

const WORK = [
  "announce_catalog",
  "drop_partitions",
  "end_interrupted_sends",
  "end_leases",
  "end_unfetched",
  "fold_statistics",
  "forget_audit",
  "forget_endpoints",
  "forget_header_sets",
  "forget_idempotency_keys",
  "forget_portal_sessions",
  "forget_replays",
  "forget_statistics",
  "free_leases",
  "make_partitions",
  "remove_abandoned_endpoints",
  "remove_superseded",
  "remove_watches",
  "settle_dispatches",
  "tell_of_endpoints",
];

async function fails(): Promise<never> {
  throw new Error("no");
}

/** Upkeep without a database, beside this work of pull endpoints. */
async function withUpkeep(
  pull: Parameters<typeof makeUpkeep>[0]["pull"],
  work: (upkeep: Background, failed: () => Promise<string[]>) => Promise<void>,
): Promise<void> {
  const url = `postgres://127.0.0.1:${await freePort()}/nothing`;
  const db = createPool({ url, poolSize: 4, applicationName: "postern test", connectionTimeoutMs: 5000 });
  const catalog = await loadCatalog(undefined);
  const metrics = makeMetrics();
  const failed = async () =>
    (await metrics.upkeepFailures.get()).values.map(({ labels }) => String(labels.work)).toSorted();
  const upkeep = makeUpkeep({
    db,
    deadWorkers: { look: fails },
    pull,
    catalog: { current: () => catalog },
    log: makeLog("silent"),
    metrics,
    retentionDays: 30,
    disableAfterMs: 0,
    times: undefined,
  });
  upkeep.start();
  try {
    await work(upkeep, failed);
  } finally {
    await upkeep.stop();
    await db.end();
  }
}

it("each work of upkeep begins at the start, and one that fails is counted by its name", () =>
  withUpkeep({ endLeases: fails, removeAbandoned: fails, endUnfetched: fails }, async (_upkeep, failed) => {
    await eventually(async () => {
      const seen = await failed();
      return WORK.every((name) => seen.includes(name));
    });
    assert.deepEqual(await failed(), WORK);
  }));

it("what goes some rows at a time goes on until no more are left", async () => {
  const rounds = { endLeases: 0, endUnfetched: 0 };
  const three = (name: keyof typeof rounds) => async () => ++rounds[name] < 3;
  const pull = { endLeases: three("endLeases"), endUnfetched: three("endUnfetched"), removeAbandoned: fails };
  await withUpkeep(pull, async () => {
    await eventually(async () => rounds.endLeases >= 3 && rounds.endUnfetched >= 3);
  });
});

it("a stop of upkeep waits for the work under way, and goes no further in what has more to do", async () => {
  let rounds = 0;
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const endLeases = async (): Promise<boolean> => {
    rounds++;
    if (rounds === 3) begun.resolve();
    if (rounds >= 3) await ended.promise;
    return rounds < 10;
  };
  await withUpkeep({ endLeases, removeAbandoned: fails, endUnfetched: fails }, async (upkeep) => {
    await begun.promise;
    let isStopped = false;
    const stopping = upkeep.stop().then(() => (isStopped = true));
    await pause();
    assert.equal(isStopped, false);
    ended.resolve();
    await stopping;
    assert.equal(rounds, 3);
  });
});
