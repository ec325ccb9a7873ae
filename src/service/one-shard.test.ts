import assert from "node:assert/strict";
import { it } from "node:test";
import { holdWaits, releaseWaits } from "../../test/support/held-waits.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { reach } from "./one-shard.ts";

async function until(holds: () => boolean): Promise<void> {
  const endsAt = Date.now() + 20_000;
  while (!holds()) {
    assert.ok(Date.now() < endsAt, "it waits for too long");
    await new Promise(setImmediate);
  }
}

it("a shard that answers no more, and again, is told by its name", async (test) => {
  const [database, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const letIn = (is: boolean) =>
    other.pool.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} ALLOW_CONNECTIONS ${is}`);
  const { log, lines } = makeKeptLog();
  const waits = holdWaits("all");
  await letIn(false);
  const { db, pulse } = reach({ name: "eu9", url: database.url, weight: 1 }, { log });
  test.after(async () => {
    releaseWaits();
    await pulse.stop();
    await db.end();
    await Promise.all([database.drop(), other.drop()]);
  });
  pulse.start();
  await until(() => waits.length === 1);
  assert.deepEqual([lines, pulse.isAway()], [[], false]);
  waits[0]?.end();
  await until(() => waits.length === 2);
  assert.deepEqual([lines, pulse.isAway()], [[{ level: 50, shard: "eu9" }], true]);
  await letIn(true);
  await until(() => {
    waits.at(-1)?.end();
    return lines.length === 2;
  });
  assert.deepEqual([lines[1], pulse.isAway()], [{ level: 30, shard: "eu9" }, false]);
});
