/** What the tests of moving tenants ask of a move, and hold up. */
import assert from "node:assert/strict";
import { wholeLog } from "./api.ts";
import { runProgram, type Program } from "./program.ts";
import { eventually } from "./eventually.ts";
import { owner, type ShardTests } from "./shard-programs.ts";

export function moveTenant(tests: ShardTests, ...words: string[]) {
  return runProgram(["tenants", "move", ...words], tests.settings());
}

/** Each accepted event reached the receiver once, and its attempt is in the log. */
export async function requireAll(
  tests: ShardTests,
  program: Program,
  { tid, id }: { tid: string; id: string },
  accepted: string[],
) {
  await eventually(async () => tests.sentTo(tid) >= accepted.length);
  const seen = tests.receiver.requests
    .filter(({ path }) => path.endsWith(`/${tid}`))
    .map(({ headers }) => String(headers["webhook-id"]));
  assert.deepEqual(seen.toSorted(), accepted.toSorted());
  const logged = await eventually(async () => {
    const log = await wholeLogOf(program, { tid, id });
    return log.length >= accepted.length && log.every(({ status }) => status === "delivered") && log;
  });
  assert.deepEqual(logged.map(({ event_id: event }) => String(event)).toSorted(), accepted.toSorted());
}

async function wholeLogOf(program: Program, { tid, id }: { tid: string; id: string }) {
  return wholeLog(
    { call: (method, path, options) => program.call(method, path, { ...options, as: owner(tid) }) },
    id,
  );
}

/** An open transaction in eu1: a move waits for its end before it holds anything. */
export async function holdMoves(tests: ShardTests): Promise<() => Promise<void>> {
  const client = await tests.shards().database("eu1").pool.connect();
  await client.query("BEGIN");
  return async () => {
    await client.query("ROLLBACK");
    client.release();
  };
}

/** Rows of the tenant in a shard, of all tables. */
export async function rowsOf(tests: ShardTests, shard: string, tid: string) {
  return tests.rows(shard, "SELECT name, count FROM postern.count_tenant_rows($1, 100000)", [tid]);
}

const FOLDED = new Set(["delivery_counts", "delivery_stats", "delivery_totals", "newest_attempts"]);

/** The same without statistics, which a worker folds at any moment. */
export async function lastingRowsOf(tests: ShardTests, shard: string, tid: string) {
  return (await rowsOf(tests, shard, tid)).filter(({ name }) => !FOLDED.has(String(name)));
}
