import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { rowsReadBy } from "../../test/support/rows-read.ts";
import { seededDatabase } from "../../test/support/seeded-database.ts";
import { eventually } from "../../test/support/eventually.ts";
import type { Db } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { idAt, newEventId } from "../shared/id.ts";
import { readHomes } from "./directory-store.ts";
import {
  commitSwitch,
  countRows,
  deleteMove,
  deleteTenantRows,
  hasTenantRows,
  fence,
  findMove,
  findStored,
  findTablesWithRows,
  forgetFence,
  forgetKeys,
  insertMove,
  insertReplays,
  lacksEvents,
  lockSwitched,
  measureRows,
  readKeysOnTheWay,
  readMarks,
  readReplays,
  readReplaysOfMove,
  setMoving,
  takeReplays,
  unfence,
  wasErasedSince,
} from "./move-store.ts";

const seeded = seededDatabase();
const { sql } = seeded;

const replays = async () =>
  sql(`SELECT tenant_id, status, lease_until = 'infinity' AS taken, lease_owner IS NULL AS free
      FROM postern.replays ORDER BY tenant_id`);

const owners = () => sql("SELECT lease_owner FROM postern.replays ORDER BY tenant_id");

it("switches a tenant's home once, under a version that no process knows yet", async () => {
  const { tenantId } = seeded.acme;
  const move = await findMove(seeded.pool, tenantId);
  assert.ok(move !== null);
  await commitSwitch(seeded.pool, move, "[]");
  const homes = await readHomes(seeded.pool, [tenantId, seeded.globex.tenantId]);
  assert.deepEqual(homes.get(tenantId), { shard: "eu2", version: 2 });
  assert.deepEqual(homes.get(seeded.globex.tenantId), { shard: "eu1", version: 1 });
  await sql("UPDATE postern.shard_directory SET shard = 'eu1'");
  await assert.rejects(commitSwitch(seeded.pool, move, "[]"), /has switched/);
  await sql("UPDATE postern.tenant_moves SET switched = false");
  await sql("UPDATE postern.shard_directory SET shard = 'eu9'");
  await assert.rejects(commitSwitch(seeded.pool, move, "[]"), /given up/);
  assert.equal((await readHomes(seeded.pool, [tenantId])).get(tenantId)?.shard, "eu9");
});

describe("replays of a tenant that moves", () => {
  it("are taken from their workers if they run, and given back with the fence", async () => {
    const untouched = { tenant_id: "globex", status: "running", taken: false, free: false };
    const [worker, other] = await owners();
    await takeReplays(seeded.pool, seeded.acme.tenantId);
    assert.deepEqual(await replays(), [
      { tenant_id: "acme", status: "running", taken: true, free: false },
      untouched,
    ]);
    const [taker, same] = await owners();
    assert.notDeepEqual(taker, worker);
    assert.deepEqual(same, other);
    await unfence(seeded.pool, seeded.acme.tenantId);
    assert.deepEqual(await replays(), [
      { tenant_id: "acme", status: "running", taken: false, free: true },
      untouched,
    ]);
  });

  it("stay where they are when the fence of another tenant is lifted", async () => {
    for (const { tenantId } of [seeded.acme, seeded.globex]) await takeReplays(seeded.pool, tenantId);
    await unfence(seeded.pool, seeded.acme.tenantId);
    assert.deepEqual(
      (await replays()).map(({ taken }) => taken),
      [false, true],
    );
  });

  it("stay with their workers where no move took them", async () => {
    await unfence(seeded.pool, seeded.acme.tenantId);
    assert.deepEqual(
      (await replays()).map(({ free }) => free),
      [false, false],
    );
  });
});

it("counts an erasure that runs, or was asked for since the move began, and no earlier one", async () => {
  const { tenantId } = seeded.acme;
  const began = new Date();
  const asked = (status: string, minutes: number) =>
    sql(
      `UPDATE postern.tenant_erasures SET status = $1, requested_at = $2::timestamptz + $3 * interval '1 minute',
        finished_at = CASE WHEN $1 = 'finished' THEN now() END WHERE tenant_id = 'acme'`,
      status,
      began,
      minutes,
    );
  for (const [status, minutes, counts] of [
    ["running", -1, true],
    ["finished", -1, false],
    ["finished", 0, true],
    ["finished", 1, true],
  ] as const) {
    await asked(status, minutes);
    assert.equal(await wasErasedSince(seeded.pool, tenantId, began), counts, `${status}, ${minutes}`);
  }
});

it("needs no copy of a superseded dispatch, nor its event", async () => {
  const { tenantId } = seeded.acme;
  const since = { events: new Date(0), deliveries: new Date(0) };
  const { dispatches } = await countRows(seeded.pool, tenantId, since);
  // The replay's dispatch is of an event that is not there.
  assert.equal(await lacksEvents(seeded.pool, tenantId), true);
  await sql("UPDATE postern.dispatches SET superseded = true WHERE tenant_id = $1 AND once", tenantId);
  assert.equal(await lacksEvents(seeded.pool, tenantId), false);
  assert.equal((await countRows(seeded.pool, tenantId, since)).dispatches, dispatches - 1);
  await sql("UPDATE postern.events SET tenant_id = 'other'");
  assert.equal(await lacksEvents(seeded.pool, tenantId), true);
});

it("forgets the keys of events that have yet to reach the tenant's home, whose keys were claimed here", async () => {
  const waiting = { outbox: newEventId(), handover: newEventId() };
  const { tenantId } = seeded.acme;
  const outbox =
    "INSERT INTO postern.outbox (tenant_id, type, body, id, key) VALUES ($1, 'a', '{}', $2, 'one')";
  await sql(outbox, tenantId, waiting.outbox);
  await sql(outbox, seeded.globex.tenantId, newEventId());
  const handover = `INSERT INTO postern.handovers (tenant_id, type, version, body, key, id, claimed)
    VALUES ($1, 'a', 1, '{}', 'two', $2, $3)`;
  await sql(handover, tenantId, waiting.handover, true);
  await sql(handover, tenantId, newEventId(), false);
  await sql(handover, seeded.globex.tenantId, newEventId(), true);
  const found = await readKeysOnTheWay(seeded.pool, tenantId);
  assert.deepEqual(found.toSorted(), Object.values(waiting).toSorted());
});

it("forgets a fence where the tenant was not let in", async () => {
  await sql("UPDATE postern.shard_tenants SET fenced = true WHERE tenant_id = 'acme'");
  await forgetFence(seeded.pool, seeded.globex.tenantId);
  for (const { tenantId } of [seeded.acme, seeded.globex])
    assert.equal((await readMarks(seeded.pool, tenantId))?.fenced, tenantId === seeded.acme.tenantId);
  await forgetFence(seeded.pool, seeded.acme.tenantId);
  assert.equal(await readMarks(seeded.pool, seeded.acme.tenantId), null);
  assert.deepEqual(await readMarks(seeded.pool, seeded.globex.tenantId), {
    version: 1,
    moving: false,
    fenced: false,
  });
});

describe("a move's row", () => {
  it("is made once, found as it is, and deleted alone", async () => {
    const { acme, globex, pool } = seeded;
    await deleteMove(pool, acme.tenantId);
    assert.equal(await findMove(pool, acme.tenantId), null);
    assert.notEqual(await findMove(pool, globex.tenantId), null);
    await insertMove(pool, { tenantId: acme.tenantId, source: "eu1", target: "eu3" });
    await insertMove(pool, { tenantId: acme.tenantId, source: "eu1", target: "eu4" });
    const { startedAt, ...move } = (await findMove(pool, acme.tenantId)) ?? {};
    assert.deepEqual(move, { tenantId: "acme", source: "eu1", target: "eu3", switched: false });
    assert.ok(startedAt instanceof Date);
  });

  it("keeps the replays of a switch, and a move that is another's does not switch", async () => {
    const { acme, globex, pool } = seeded;
    const move = await findMove(pool, acme.tenantId);
    assert.ok(move !== null);
    assert.equal(await readReplaysOfMove(pool, acme.tenantId), "[]");
    assert.equal(await lockSwitched(pool, acme.tenantId), false);
    for (const changed of [{ source: "eu9" }, { target: "eu9" }])
      await assert.rejects(commitSwitch(pool, { ...move, ...changed }, "[]"), /given up/);
    await commitSwitch(pool, move, '[{"id":1}]');
    assert.equal(await readReplaysOfMove(pool, acme.tenantId), '[{"id":1}]');
    assert.deepEqual(
      [await lockSwitched(pool, acme.tenantId), await lockSwitched(pool, globex.tenantId)],
      [true, false],
    );
    await deleteMove(pool, acme.tenantId);
    assert.equal(await readReplaysOfMove(pool, acme.tenantId), "[]");
    assert.equal(await lockSwitched(pool, acme.tenantId), false);
  });

  it("can't be switched while somebody asks whether it was", async () => {
    const { acme, pool } = seeded;
    const move = await findMove(pool, acme.tenantId);
    assert.ok(move !== null);
    const switching = await inTransaction(pool, async (transaction) => {
      const pid = await pidOf(transaction);
      assert.equal(await lockSwitched(transaction, acme.tenantId), false);
      const commit = commitSwitch(pool, move, "[]");
      await eventually(async () => (await waitersFor(pool, pid)) === 1);
      return { commit };
    });
    await switching.commit;
  });
});

describe("a fence", () => {
  it("is set under the version that is given, again or for the first time, and lifted", async () => {
    const { acme, globex, pool } = seeded;
    const rows = () => sql("SELECT tenant_id, version, fenced, moving FROM postern.shard_tenants ORDER BY 1");
    const untouched = { tenant_id: "globex", version: 1, fenced: false, moving: false };
    const fenced = { tenant_id: "acme", version: 7, fenced: true, moving: true };
    await fence(pool, acme.tenantId, 7);
    assert.deepEqual(await rows(), [fenced, untouched]);
    await setMoving(pool, acme.tenantId, false);
    assert.deepEqual(await rows(), [{ ...fenced, moving: false }, untouched]);
    await unfence(pool, acme.tenantId);
    assert.deepEqual(await readMarks(pool, acme.tenantId), { version: 7, moving: false, fenced: false });
    await setMoving(pool, acme.tenantId, true);
    assert.deepEqual(await readMarks(pool, acme.tenantId), { version: 7, moving: true, fenced: false });
    await sql("DELETE FROM postern.shard_tenants WHERE tenant_id = 'acme'");
    await fence(pool, acme.tenantId, 7);
    assert.deepEqual(await rows(), [fenced, untouched]);
    await fence(pool, globex.tenantId, 7);
    await unfence(pool, acme.tenantId);
    assert.deepEqual(await readMarks(pool, globex.tenantId), { version: 7, moving: true, fenced: true });
  });
});

it("brings replays as they were, those that run as well as those that are over, and changes none that is there", async () => {
  const { acme, globex, pool } = seeded;
  await sql(
    `INSERT INTO postern.replays SELECT r.* FROM json_populate_record((SELECT r FROM postern.replays r
      WHERE tenant_id = 'acme'), $1) AS r`,
    JSON.stringify({ id: newEventId(), status: "canceled", finished_at: "2026-03-01T00:00:00Z" }),
  );
  await takeReplays(pool, acme.tenantId);
  const rows = () => sql("SELECT to_jsonb(r) AS row FROM postern.replays r ORDER BY tenant_id, id");
  const before = await rows();
  const [running, canceled] = before.map(({ row }) => row.lease_until);
  assert.deepEqual([running === "infinity", canceled === "infinity"], [true, false]);
  const kept = await readReplays(pool, acme.tenantId);
  assert.equal(JSON.parse(kept).length, 2);
  await sql("DELETE FROM postern.replays WHERE tenant_id = 'acme'");
  assert.equal(await readReplays(pool, acme.tenantId), "[]");
  await insertReplays(pool, kept);
  assert.deepEqual(await rows(), before);
  await sql("UPDATE postern.replays SET sent = 5");
  await insertReplays(pool, kept);
  assert.deepEqual(await sql("SELECT DISTINCT sent FROM postern.replays"), [{ sent: 5 }]);
  assert.equal(JSON.parse(await readReplays(pool, globex.tenantId)).length, 1);
});

/** So many milliseconds ago. */
const since = (events: number, deliveries: number) => ({
  events: new Date(Date.now() - events),
  deliveries: new Date(Date.now() - deliveries),
});

it("counts of the log what is newer than is asked for", async () => {
  const { acme, pool } = seeded;
  const { tenantId } = acme;
  const epoch = new Date(0);
  const all = await countRows(pool, tenantId, { events: epoch, deliveries: epoch });
  assert.deepEqual(all, { endpoints: 1, dispatches: 5, events: 1, deliveries: 1 });
  await sql("UPDATE postern.events SET id = $1 WHERE tenant_id = 'acme'", idAt(Date.now() - 60_000));
  await sql("UPDATE postern.deliveries SET id = $1 WHERE tenant_id = 'acme'", idAt(Date.now() - 120_000));
  for (const [given, events, deliveries] of [
    [since(90_000, 150_000), 1, 1],
    [since(90_000, 90_000), 1, 0],
    [since(30_000, 150_000), 0, 1],
  ] as const)
    assert.deepEqual(await countRows(pool, tenantId, given), { ...all, events, deliveries });
  const exactly = since(60_000, 90_000);
  for (const [table, first] of Object.entries(exactly))
    await sql(`UPDATE postern.${table} SET id = postern.lowest_id_at($1) WHERE tenant_id = 'acme'`, first);
  assert.deepEqual(await countRows(pool, tenantId, exactly), all);
});

it("forgets keys of a tenant's events, and neither others of it nor the same of another", async () => {
  const { acme, globex, pool } = seeded;
  await sql("UPDATE postern.idempotency_keys SET event_id = $1", acme.eventId);
  await sql("INSERT INTO postern.idempotency_keys VALUES ('acme', 'other', $1, '')", newEventId());
  await forgetKeys(pool, acme.tenantId, [acme.eventId]);
  assert.deepEqual(await sql("SELECT tenant_id, key FROM postern.idempotency_keys ORDER BY 1"), [
    { tenant_id: "acme", key: "other" },
    { tenant_id: "globex", key: globex.key },
  ]);
});

it("finds what is stored, and not what is over, of one tenant", async () => {
  const { tenantId } = seeded.acme;
  const stored = () => findStored(seeded.pool, tenantId);
  assert.deepEqual(await stored(), ["stored artifacts", "unfinished exports", "bodies to store"]);
  await sql("DELETE FROM postern.bodies_to_keep WHERE tenant_id = 'acme'");
  await sql("UPDATE postern.storage_exports SET status = 'queued' WHERE tenant_id = 'acme'");
  assert.deepEqual(await stored(), ["stored artifacts", "unfinished exports"]);
  await sql("UPDATE postern.storage_exports SET status = 'failed' WHERE tenant_id = 'acme'");
  await sql(
    "UPDATE postern.stored_objects SET state = 'purged' WHERE tenant_id = 'acme' AND state = 'available'",
  );
  assert.deepEqual(await stored(), ["stored artifacts"], "an upload is under way");
  await sql(
    "UPDATE postern.stored_objects SET state = 'missing' WHERE tenant_id = 'acme' AND state = 'pending'",
  );
  assert.deepEqual(await stored(), [], "it never came");
  await sql(
    "UPDATE postern.stored_objects SET state = 'missing' WHERE tenant_id = 'acme' AND available_at IS NOT NULL",
  );
  assert.deepEqual(await stored(), ["stored artifacts"], "its bytes may come back");
});

it("finds, measures and deletes a tenant's rows, but for what is on its way, and none of another", async () => {
  const { acme, globex, pool } = seeded;
  const tables = ["endpoints", "events", "outbox", "header_sets"];
  assert.deepEqual(await findTablesWithRows(pool, acme.tenantId, tables), tables.toSorted());
  const { rows, bytes } = await measureRows(pool, acme.tenantId, tables);
  assert.equal(rows, 4);
  assert.ok(bytes > 100);
  assert.deepEqual(await measureRows(pool, acme.tenantId, []), { rows: 0, bytes: 0 });
  const others = await measureRows(pool, globex.tenantId, tables);
  const told: number[] = [];
  await deleteTenantRows(pool, acme.tenantId, (count) => told.push(count));
  const [all = 0, ...more] = told;
  assert.ok(all > 20);
  assert.deepEqual(more, []);
  const left = ["deliveries", "dispatches", "endpoints", "events", "handovers", "outbox", "replays"];
  assert.deepEqual(await findTablesWithRows(pool, acme.tenantId, left), ["handovers", "outbox"]);
  assert.deepEqual(await measureRows(pool, globex.tenantId, tables), others);
});

it("deletes a tenant's rows without reading the events and attempts of others", async () => {
  const { acme, pool } = seeded;
  // Of many tenants: where each of two has half of them, reading all of them is right.
  await sql(
    `INSERT INTO postern.events (id, tenant_id, type, body, dispatch_count)
      SELECT postern.uuid_v7(), 'other-' || n % 2000, 'invoice.paid', '{}', 0 FROM generate_series(1, 20000) AS n`,
  );
  await sql("ANALYZE postern.events");
  const rows = await rowsReadBy(pool, (db) => deleteTenantRows(db, acme.tenantId, () => undefined));
  assert.ok(rows < 1000, `${rows} rows were read`);
});

it("deletes all of a tenant's rows also where others delete or change some meanwhile, as who forgets old ones does", async () => {
  const { acme, pool } = seeded;
  const keys = "postern.idempotency_keys WHERE tenant_id = 'acme'";
  for (const change of [
    `DELETE FROM ${keys} AND key = 'k1'`,
    `UPDATE postern.idempotency_keys SET created_at = now() WHERE tenant_id = 'acme' AND key = 'k1'`,
  ]) {
    await sql(
      `INSERT INTO postern.idempotency_keys (tenant_id, key, event_id, fingerprint)
        SELECT 'acme', 'k' || n, gen_random_uuid(), '' FROM generate_series(1, 6000) AS n`,
    );
    const changing = await pool.connect();
    await changing.query(`BEGIN; ${change}`);
    const pid = await pidOf(changing);
    const deleted = deleteTenantRows(pool, acme.tenantId, () => undefined);
    await eventually(async () => (await waitersFor(pool, pid)) === 1);
    await changing.query("COMMIT");
    changing.release();
    await deleted;
    assert.deepEqual(await sql(`SELECT count(*)::int AS left FROM ${keys}`), [{ left: 0 }]);
  }
});

it("measures and deletes the rest where retention drops a day that was listed", async () => {
  const { acme, pool } = seeded;
  const day = "(now() AT TIME ZONE 'UTC')::date - 40";
  const dropping: Db = {
    query: async (text, values) => {
      const answer = await pool.query(text, values);
      if (typeof text === "string" && text.includes("tables_of_tenants"))
        await sql("SELECT postern.drop_past_partitions(30)");
      return answer;
    },
  };
  const tables = ["events", "deliveries", "dispatches"];
  const size = await measureRows(pool, acme.tenantId, tables);
  await sql(`SELECT postern.ensure_partitions(${day}, ${day})`);
  assert.deepEqual(await measureRows(dropping, acme.tenantId, tables), size);
  await sql(`SELECT postern.ensure_partitions(${day}, ${day})`);
  await deleteTenantRows(dropping, acme.tenantId, () => undefined);
  assert.equal(await hasTenantRows(pool, acme.tenantId), false);
});
