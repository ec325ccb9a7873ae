/** Moves in which nothing is copied: undone, given up as they begin, gone on with behind their switch. */
import assert from "node:assert/strict";
import { foldCounts } from "../deliveries/stats-store.ts";
import { after, before, beforeEach, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { noticesOf } from "../../test/support/notices.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { seedTwoTenants, snapshot, tenant } from "../../test/support/two-tenants.ts";
import { FETCH_CHANNEL } from "../queue/channels.ts";
import { ConfigError } from "../shared/config-error.ts";
import { newEventId } from "../shared/id.ts";
import { readCopyName, readLeftCopies } from "./copy-store.ts";
import { insertMark } from "./join-store.ts";
import { holdTenant } from "./hold-store.ts";
import {
  deleteTenantRows,
  fence,
  findMove,
  findTablesWithRows,
  forgetFence,
  readMarks,
  readExports,
  readReplays,
  takeReplays,
  unfence,
} from "./move-store.ts";
import { BROUGHT } from "./move-tables.ts";
import { moveTenant, undoMove, type MoveServices } from "./move.ts";

const [acme, globex] = [tenant("acme"), tenant("globex")];

let directory: TestDatabase;
let source: TestDatabase;
let target: TestDatabase;
let told: string[];
let services: MoveServices;

before(async () => {
  const three = [createTestDatabase(), createTestDatabase(), createTestDatabase()] as const;
  [directory, source, target] = await Promise.all(three);
  await insertMark(directory.pool, { name: "eu0", directory: null });
});
after(() => Promise.all([directory, source, target].map((database) => database.drop())));

beforeEach(async () => {
  await Promise.all([directory, source, target].map(({ pool }) => seedTwoTenants(pool)));
  await source.pool.query(`UPDATE postern.tenant_erasures SET status = 'finished', finished_at = now(),
    requested_at = requested_at - interval '1 hour'`);
  await source.pool.query("UPDATE postern.endpoints SET unsettled = false");
  told = [];
  services = {
    directory: directory.pool,
    source: { name: "eu1", db: source.pool },
    target: { name: "eu2", db: target.pool },
    sourceUrl: source.url,
    foldCounts,
    tell: (text) => told.push(text),
  };
});

async function moveOf(change: { switched?: boolean } = {}) {
  const move = await findMove(directory.pool, acme);
  assert.ok(move !== null);
  return { ...move, ...change };
}

const movesLeft = async () =>
  (await directory.pool.query("SELECT tenant_id FROM postern.tenant_moves")).rows.map((row) => row.tenant_id);

/** Which tables have rows of the tenant that a move brings. */
const tablesOf = ({ pool }: TestDatabase) => findTablesWithRows(pool, acme, BROUGHT);

/** What a worker asks before it acts on the tenant's rows. */
async function workOf({ pool }: TestDatabase) {
  const { rows } = await pool.query(
    `SELECT e.moving, e.unsettled, r.lease_owner IS NULL AS "isFree", r.lease_until = 'infinity' AS "isTaken"
      FROM postern.endpoints e JOIN postern.replays r USING (tenant_id) WHERE tenant_id = 'acme'`,
  );
  return rows;
}
const LET_IN = [{ moving: false, unsettled: true, isFree: true, isTaken: false }];

/** As a move has it in its last moment before the switch. */
async function fenceBoth(): Promise<void> {
  await fence(target.pool, acme, 2);
  await fence(source.pool, acme, 1);
  await holdTenant(source.pool, acme);
  await takeReplays(source.pool, acme);
}

describe("a move that is undone", () => {
  it("leaves the tenant at work where it was, and nothing in the other shard", async () => {
    await fenceBoth();
    const rows = await tablesOf(source);
    const others = await snapshot(target.pool, globex);
    await undoMove(services, await moveOf());
    assert.deepEqual(await readMarks(source.pool, acme), { version: 1, moving: false, fenced: false });
    assert.deepEqual(await workOf(source), LET_IN);
    assert.deepEqual(await tablesOf(source), rows);
    assert.deepEqual([await tablesOf(target), await readMarks(target.pool, acme)], [[], null]);
    assert.equal(await snapshot(target.pool, globex), others);
    assert.deepEqual(await movesLeft(), ["globex"]);
    assert.match(told.at(-2) ?? "", /^deleted \d+ rows of the copy$/);
    assert.equal(told.at(-1), "waiting for open transactions in eu1");
  });

  it("is refused when it has switched meanwhile, and then no row is deleted", async () => {
    const move = await moveOf();
    await directory.pool.query("UPDATE postern.tenant_moves SET switched = true");
    await fenceBoth();
    const all = () => Promise.all([directory, source, target].map(({ pool }) => snapshot(pool, null)));
    const before = await all();
    await assert.rejects(
      undoMove(services, move),
      new ConfigError(
        "acme lives in eu2 already.\nRun the command without --undo: it deletes what is left in eu1.",
      ),
    );
    assert.deepEqual(await all(), before);
  });
});

/** The id of an event that waits to be handed over, with a key that was claimed in the source. */
async function keyOnTheWay() {
  const id = newEventId();
  await source.pool.query(
    "UPDATE postern.handovers SET key = 'a', claimed = true, id = $1 WHERE tenant_id = $2",
    [id, acme],
  );
  return id;
}

it("behind its switch lets the tenant in with its replays, and deletes what is left in the source", async () => {
  await fenceBoth();
  const onTheWay = await keyOnTheWay();
  await target.pool.query("UPDATE postern.idempotency_keys SET event_id = $1", [onTheWay]);
  await target.pool.query("UPDATE postern.endpoints SET moving = true, unsettled = false");
  await target.pool.query("DELETE FROM postern.replays; DELETE FROM postern.storage_exports");
  await directory.pool.query("UPDATE postern.tenant_moves SET switched = true, replays = $1", [
    await readReplays(source.pool, acme),
  ]);
  await directory.pool.query("UPDATE postern.shard_directory SET shard = 'eu2', version = 2");
  const others = await snapshot(source.pool, globex);
  const exports = await readExports(source.pool, acme);
  await moveTenant(services, await moveOf());
  assert.deepEqual(await readExports(target.pool, acme), exports);
  assert.deepEqual(await readMarks(target.pool, acme), { version: 2, moving: false, fenced: false });
  assert.deepEqual(await workOf(target), LET_IN);
  // The event is accepted by its key when it is handed over.
  const { rows } = await target.pool.query("SELECT tenant_id FROM postern.idempotency_keys");
  assert.deepEqual(rows, [{ tenant_id: "globex" }]);
  assert.deepEqual(await tablesOf(source), []);
  // A process that knows the tenant here is still refused; the version says that it was let in elsewhere.
  assert.deepEqual(await readMarks(source.pool, acme), { version: 2, moving: false, fenced: true });
  assert.equal(await snapshot(source.pool, globex), others);
  assert.deepEqual(await movesLeft(), ["globex"]);
  assert.equal(told[0], "acme lives in eu2; its rows in eu1 are being deleted");
});

it("behind its switch leaves alone what the target has had since an earlier command let the tenant in", async () => {
  await fenceBoth();
  const onTheWay = await keyOnTheWay();
  await directory.pool.query("UPDATE postern.tenant_moves SET switched = true, replays = $1", [
    await readReplays(source.pool, acme),
  ]);
  await unfence(target.pool, acme);
  // Accepted there, and not deleted in the source yet; old replays and exports have been forgotten.
  await target.pool.query("UPDATE postern.idempotency_keys SET event_id = $1 WHERE tenant_id = $2", [
    onTheWay,
    acme,
  ]);
  await target.pool.query("DELETE FROM postern.replays; DELETE FROM postern.storage_exports");
  await moveTenant(services, await moveOf());
  const { rows: keys } = await target.pool.query(
    "SELECT event_id FROM postern.idempotency_keys WHERE tenant_id = $1",
    [acme],
  );
  assert.deepEqual(keys, [{ event_id: onTheWay }]);
  const forgotten = [await readReplays(target.pool, acme), await readExports(target.pool, acme)];
  assert.deepEqual(forgotten, ["[]", "[]"]);
  assert.deepEqual([await tablesOf(source), await movesLeft()], [[], ["globex"]]);
});

it("behind its switch wakes the clients that wait in the source for events of the tenant", async () => {
  await directory.pool.query("UPDATE postern.tenant_moves SET switched = true, replays = '[]'");
  await fenceBoth();
  const { rows } = await source.pool.query(
    "UPDATE postern.endpoints SET mode = 'pull' RETURNING tenant_id, id",
  );
  const heard = await noticesOf(source.pool, async () => moveTenant(services, await moveOf()));
  assert.deepEqual(heard, [[FETCH_CHANNEL, rows.find((row) => row.tenant_id === acme)?.id]]);
});

/** For open transactions, in the target. */
async function untilItLooksAgain(): Promise<void> {
  const looks = new Set<string>();
  await eventually(async () => {
    const { rows } = await target.pool.query(`SELECT query_start::text AS at FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE '%virtualxid%' AND pid <> pg_backend_pid()`);
    for (const { at } of rows) looks.add(at);
    return looks.size > 2;
  });
}

describe("a move that begins", () => {
  beforeEach(async () => {
    await deleteTenantRows(target.pool, acme, () => undefined);
    await target.pool.query("UPDATE postern.shard_tenants SET fenced = true WHERE tenant_id = 'acme'");
    await forgetFence(target.pool, acme);
  });

  it("gives itself up where the tenant's erasure was asked for before", async () => {
    await source.pool.query("UPDATE postern.tenant_erasures SET status = 'running', finished_at = NULL");
    await assert.rejects(
      moveTenant(services, await moveOf()),
      new ConfigError(
        "acme is being erased, or was since the move began.\nThe move was given up; nothing is left of it.",
      ),
    );
    assert.deepEqual([await readMarks(target.pool, acme), await movesLeft()], [null, ["globex"]]);
    assert.deepEqual(told, ["waiting for open transactions in eu1"]);
  });

  it("waits for what is under way in the target, and refuses to bring rows beside its", async () => {
    const [late, later] = [await target.pool.connect(), await target.pool.connect()];
    await late.query(`BEGIN; INSERT INTO postern.tenant_settings (tenant_id) VALUES ('acme')`);
    const moving = moveTenant(services, await moveOf());
    const refused = assert.rejects(
      moving,
      new ConfigError(
        "eu2 got rows of acme as the move began (tenant_settings).\nUndo the move with --undo and begin again.",
      ),
    );
    try {
      await Promise.race([untilItLooksAgain(), refused]);
      assert.deepEqual(told, ["waiting for open transactions in eu2"]);
      assert.deepEqual(await readMarks(target.pool, acme), { version: 2, moving: true, fenced: true });
      // It began behind the fence, so nothing waits for it.
      await later.query("BEGIN");
      await late.query("COMMIT");
      await refused;
    } finally {
      late.release();
      later.release(true);
    }
    // Whoever knows the tenant's next home comes with this version.
    const { rows } = await target.pool.query(
      "SELECT version FROM postern.shard_tenants WHERE tenant_id = 'acme'",
    );
    assert.deepEqual(rows, [{ version: 2 }]);
  });

  it("gives itself up, with what an earlier command left, where the source has lost its slot", async () => {
    const name = await readCopyName(directory.pool, acme, "eu2");
    await source.pool.query(`CREATE PUBLICATION ${name}; CREATE PUBLICATION ${name}_log`);
    await target.pool.query(
      `CREATE SUBSCRIPTION ${name} CONNECTION 'dbname=none' PUBLICATION ${name} WITH (connect = false);
        ALTER SUBSCRIPTION ${name} ENABLE`,
    );
    const left = [source, target].map(({ pool }) => readLeftCopies(pool));
    assert.deepEqual((await Promise.all(left)).flat().length, 3);
    await fenceBoth();
    await assert.rejects(
      moveTenant(services, await moveOf()),
      new ConfigError(
        "The server of eu1 has no replication slot of the move any more: another server has taken over, or the slot was dropped or has lost its log.\nThe move was given up, and nothing is left of it. Begin again.",
      ),
    );
    assert.deepEqual([await readLeftCopies(source.pool), await readLeftCopies(target.pool)], [[], []]);
    assert.deepEqual(await workOf(source), LET_IN);
    assert.deepEqual(await movesLeft(), ["globex"]);
  });
});
