/**
 * Statements of endpoints among neighbours: another tenant's endpoint of the same
 * id, the tenant's other endpoint, and one that another session has locked.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { Db, PoolClient } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { newEndpointId, newEventId, type TenantId } from "../shared/id.ts";
import { MIN_SEALED_BYTES, SEALED_VERSION } from "../shared/secret-box.ts";
import {
  beginFailing,
  disableEndpoint,
  endFailing,
  findEndpoint,
  findHealth,
  insertEndpoint,
  loadTargets,
  lockHeaders,
  replaceSecret,
  softDeleteEndpoint,
  updateEndpoint,
} from "./endpoint-store.ts";
import { sumExhausted, takeExhausting, takeFailing } from "./notice-store.ts";
import { clearEndedGraces, countSecretsByKey, listSealedOtherwise, replaceSealed } from "./reseal-store.ts";
import { extendTemporary, findAbandoned, lockAbandoned } from "./temporary-store.ts";

const [other, own] = [tenant("acme"), tenant("globex")];
const [second, id] = [newEndpointId(), newEndpointId()];
const key = { tenantId: own, endpointId: id };
const seen = { ...key, url: "https://example.org/", failingSince: null };
const HOUR_MS = 3_600_000;

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

/** The neighbours are found first by whatever forgets a part of the key. */
const ALL: [tenantId: TenantId, id: typeof key.endpointId][] = [
  [other, id],
  [own, second],
  [own, id],
];
beforeEach(async () => {
  await database.pool.query(
    "DELETE FROM postern.endpoints; DELETE FROM postern.exhausted_events; DELETE FROM postern.shard_tenants",
  );
  for (const [tenantId, one] of ALL)
    await insertEndpoint(database.pool, {
      ...newEndpoint({ tenantId }),
      id: one,
      description: tenantId + one,
    });
});

const set = (change: string, of = "true") =>
  database.pool.query(`UPDATE postern.endpoints SET ${change} WHERE ${of}`);
const ONE = `tenant_id = '${own}' AND id = '${id}'`;

async function rows(): Promise<Map<string, Record<string, unknown>>> {
  const { rows: stored } = await database.pool.query("SELECT to_jsonb(e) AS row FROM postern.endpoints e");
  return new Map(stored.map(({ row }) => [row.tenant_id + row.id, row]));
}

/** From now on the tenant of the endpoint that is meant is being moved. */
const beginMove = () =>
  database.pool.query(
    "INSERT INTO postern.shard_tenants (tenant_id, version, fenced, moving) VALUES ($1, 1, true, true)",
    [own],
  );

/** The columns that an act changes of the endpoint that is meant; it changes no other. */
async function changedBy(act: () => Promise<unknown>): Promise<string[]> {
  const earlier = await rows();
  await act();
  const changed = [];
  for (const [place, row] of await rows()) {
    for (const [column, value] of Object.entries(row)) {
      if (JSON.stringify(value) === JSON.stringify(earlier.get(place)?.[column])) continue;
      assert.equal(place, own + id, column);
      changed.push(column);
    }
  }
  return changed.toSorted();
}

/** What `act` does while another session has locked the endpoint, for which it is not to wait. */
async function whileLocked(act: (db: PoolClient) => Promise<void>): Promise<void> {
  const [holder, actor] = [await database.pool.connect(), await database.pool.connect()];
  try {
    await holder.query(`BEGIN; SELECT FROM postern.endpoints WHERE ${ONE} FOR UPDATE`);
    await act(actor);
  } finally {
    await holder.query("ROLLBACK");
    for (const client of [holder, actor]) client.release();
  }
}

it("an endpoint that is made while its tenant is being moved is of the move, and no other's", async () => {
  await beginMove();
  await database.pool.query(
    "INSERT INTO postern.shard_tenants (tenant_id, version, fenced, moving) VALUES ($1, 1, true, false)",
    [other],
  );
  const made = [];
  for (const tenantId of [own, other, tenant("initech")]) {
    const { id: one } = await insertEndpoint(database.pool, newEndpoint({ tenantId }));
    made.push((await rows()).get(tenantId + one)?.["moving"]);
  }
  assert.deepEqual(made, [true, false, false]);
});

describe("an endpoint among its neighbours", () => {
  it("is changed alone, in no more than is said", async () => {
    const { pool } = database;
    await set("updated_at = now() - interval '1 h', unsettled = false");
    const update = (change: Parameters<typeof updateEndpoint>[3]) => () =>
      updateEndpoint(pool, own, id, change);
    const unsettled = async (change: Parameters<typeof updateEndpoint>[3]) => {
      await set("unsettled = false");
      const changed = await changedBy(update(change));
      return changed.includes("unsettled");
    };
    assert.deepEqual(await changedBy(update({ description: "x" })), ["description", "updated_at"]);
    assert.deepEqual(
      [
        await unsettled({ enabled: true }),
        await unsettled({ enabled: false }),
        await unsettled({ mode: "pull" }),
        await unsettled({ mode: "pull" }),
      ],
      [true, true, true, false],
    );
    await set("enabled = true, disabled_reason = NULL, updated_at = now() - interval '1 h'");
    assert.deepEqual(await changedBy(() => disableEndpoint(pool, seen, "gone")), [
      "disabled_reason",
      "enabled",
      "unsettled",
      "updated_at",
    ]);
    await set("updated_at = now() - interval '1 h', unsettled = false");
    const next = { secret: Buffer.from("next"), graceSeconds: 60 };
    assert.deepEqual(await changedBy(() => replaceSecret(pool, own, id, next)), [
      "previous_secret",
      "previous_secret_until",
      "secret",
      "updated_at",
    ]);
    assert.deepEqual(await changedBy(() => beginFailing(pool, key)), ["failing_since"]);
    await set("failing_since = now()");
    assert.deepEqual(await changedBy(() => endFailing(pool, key, false)), ["failing_since"]);
    await set("mode = 'pull', temporary_until = now() - interval '1 h'");
    assert.deepEqual(await changedBy(() => extendTemporary(pool, key)), ["temporary_until"]);
    assert.deepEqual(await changedBy(() => softDeleteEndpoint(pool, own, id)), [
      "deleted_at",
      "previous_secret",
      "previous_secret_until",
      "secret",
      "unsettled",
    ]);
  });

  it("is read alone", async () => {
    const { pool } = database;
    await set("headers = json_build_object('row', description), failing_since = now()", ONE);
    assert.equal((await findEndpoint(pool, own, id))?.description, own + id);
    assert.deepEqual((await lockHeaders(pool, own, id))?.headers, { row: own + id });
    assert.notEqual((await findHealth(pool, own, id))?.failingSince, null);
    assert.deepEqual(
      (await loadTargets(pool, [key])).map((target) => target.headers),
      [{ row: own + id }],
    );
    await set("mode = 'pull', temporary_until = now() - interval '1 min'");
    await set("temporary_until = now() + interval '1 min'", ONE);
    assert.equal(await lockAbandoned(pool, key), false);
    await set("temporary_until = now() - interval '2 min'", ONE);
    const ids = (await findAbandoned(pool)).map((one) => one.tenantId + one.endpointId);
    // The one that waits longest goes first.
    assert.deepEqual([ids[0], ids.length], [own + id, 3]);
    await beginMove();
    assert.deepEqual(await findAbandoned(pool), [{ tenantId: other, endpointId: id }]);
  });

  it("has no former secret once that has ended", async () => {
    const { pool } = database;
    for (const [minutes, isThere] of [
      [1, true],
      [-1, false],
    ] as const) {
      await set(`previous_secret = '\\x01', previous_secret_until = now() + ${minutes} * interval '1 min'`);
      const health = await findHealth(pool, own, id);
      assert.equal(health?.previousSecretUntil instanceof Date, isThere);
    }
  });

  it("is disabled as failing if it is in the millisecond that was seen, and not later", async () => {
    const failingSince = new Date("2026-03-01T12:00:00.123Z");
    for (const [since, isDisabled] of [
      ["2026-03-01T12:00:00.124Z", false],
      ["2026-03-01T12:00:00.123999Z", true],
    ] as const) {
      await set(`failing_since = '${since}'`);
      assert.equal(await disableEndpoint(database.pool, { ...seen, failingSince }, "failing"), isDisabled);
    }
  });

  it("stays as it is read for a change of its headers, until that is over", async () => {
    const free = async () =>
      (await database.pool.query("SELECT FROM postern.endpoints FOR NO KEY UPDATE SKIP LOCKED")).rowCount;
    await inTransaction(database.pool, async (transaction) => {
      await lockHeaders(transaction, own, id);
      assert.equal(await free(), 2);
    });
    assert.equal(await free(), 3);
  });

  it("works again once, though two attempts say so at the same time", async () => {
    const { pool } = database;
    await set("failing_since = now()");
    const [first, second] = [await pool.connect(), await pool.connect()];
    try {
      await first.query("BEGIN");
      await second.query("SET lock_timeout = 0");
      assert.notEqual(await endFailing(first, key, false), null);
      const later = endFailing(second, key, false);
      const pid = await pidOf(first);
      await eventually(async () => (await waitersFor(pool, pid)) === 1);
      await first.query("COMMIT");
      assert.equal(await later, null);
    } finally {
      for (const session of [first, second]) session.release(true);
    }
  });
});

const failing = async (limit: number, db: Db = database.pool) =>
  (await takeFailing(db, { afterMs: [HOUR_MS, 2 * HOUR_MS], without: [], limit })).map(
    (one) => one.tenantId + one.endpointId,
  );
const exhausting = async (limit: number, db: Db = database.pool) =>
  (await takeExhausting(db, { pauseMs: HOUR_MS, limit })).map((one) => one.tenantId + one.endpointId);
const exhaust = () =>
  database.pool.query(
    `INSERT INTO postern.exhausted_events (tenant_id, endpoint_id, count, delivery_id, event_id, event_type)
      SELECT tenant_id, id, n, postern.uuid_v7(), $1, 'invoice.paid' FROM postern.endpoints, generate_series(1, 3) AS n`,
    [newEventId()],
  );

describe("a notice of an endpoint among its neighbours", () => {
  it("is first of the one that fails longest, and again where the last one was of an earlier failure", async () => {
    await set(`failing_since = now() - interval '70 min'`);
    await set("failing_since = now() - interval '80 min'", ONE);
    assert.deepEqual(await changedBy(() => failing(1)), ["failing_told_at"]);
    await set("failing_told_at = now()");
    await set("failing_told_at = failing_since + interval '30 min'", ONE);
    assert.deepEqual(await failing(5), [own + id]);
  });

  it("is of each endpoint with exhausted events once, and of none without", async () => {
    await exhaust();
    assert.equal((await exhausting(3)).length, 3);
    await set("exhausted_told_at = NULL");
    await database.pool.query(
      `DELETE FROM postern.exhausted_events WHERE tenant_id <> $1 OR endpoint_id <> $2`,
      [own, id],
    );
    assert.deepEqual(await changedBy(() => exhausting(5)), ["exhausted_told_at"]);
  });

  it("takes and adds up the events of that endpoint alone", async () => {
    await exhaust();
    const given = { ...key, url: "", isDeleted: false };
    const sums = await sumExhausted(database.pool, [given]);
    assert.deepEqual(
      sums.map(({ tenantId, endpointId, count }) => [tenantId + endpointId, count]),
      [[own + id, 6]],
    );
    const left = await database.pool.query("SELECT FROM postern.exhausted_events");
    assert.equal(left.rowCount, 6);
  });

  it("passes over an endpoint that another process tells of, and a tenant that is being moved", async () => {
    await exhaust();
    await set("failing_since = now() - interval '70 min'");
    await whileLocked(async (db) => {
      assert.equal((await failing(5, db)).length, 2);
      assert.equal((await exhausting(5, db)).length, 2);
    });
    await beginMove();
    await set("failing_told_at = NULL, exhausted_told_at = NULL");
    assert.deepEqual([await failing(5), await exhausting(5)], [[other + id], [other + id]]);
  });
});

/** The shortest that there can be, by the key of this number. */
const sealedBy = (number: number) =>
  Buffer.concat([Buffer.of(SEALED_VERSION, 0, 0, 0, number), Buffer.alloc(MIN_SEALED_BYTES - 5)]);
const hex = (number: number) => `'\\x${sealedBy(number).toString("hex")}'`;

describe("the secrets of an endpoint among its neighbours", () => {
  it("are listed if any one of them is sealed by another key, and counted for each key", async () => {
    const { pool } = database;
    const listed = async () =>
      (await listSealedOtherwise(pool, "00000001", { after: null, limit: 5 })).map(
        (one) => one.tenantId + one.endpointId,
      );
    const first = `secret = ${hex(1)}, previous_secret = NULL, previous_secret_until = NULL, sealed_headers = NULL`;
    for (const [change, keyIds] of [
      [first, ["00000001"]],
      [`secret = ${hex(2)}`, ["00000001", "00000002"]],
      [
        `previous_secret = ${hex(2)}, previous_secret_until = now() + interval '1 min'`,
        ["00000001", "00000002"],
      ],
      [`sealed_headers = ${hex(2)}`, ["00000001", "00000002"]],
    ] as const) {
      await set(first);
      await set(change, ONE);
      assert.deepEqual(await listed(), keyIds.length === 1 ? [] : [own + id], change);
      assert.deepEqual(
        (await countSecretsByKey(pool)).map(({ keyId }) => keyId),
        keyIds,
      );
    }
    await set(`secret = ${hex(2)}`);
    assert.deepEqual(await listed(), [other + id, own + second, own + id]);
  });

  it("are replaced alone, each part if it is as it was, and not where the row is locked", async () => {
    const { pool } = database;
    const stored = { previousSecret: sealedBy(2), sealedHeaders: sealedBy(3) };
    const all = `secret = ${hex(1)}, previous_secret = ${hex(2)}, previous_secret_until = now(), sealed_headers = ${hex(3)}`;
    const old = { ...key, secret: sealedBy(1), ...stored };
    const next = { secret: sealedBy(4), previousSecret: sealedBy(5), sealedHeaders: sealedBy(6) };
    const replace = (db: Db = pool) => replaceSealed(db, [{ old, ...next }]);
    await set(all);
    for (const column of ["secret", "previous_secret", "sealed_headers"]) {
      await set(`${column} = ${hex(7)}`, ONE);
      assert.deepEqual(await changedBy(() => replace()), [], column);
      await set(all);
    }
    await whileLocked(async (db) => assert.equal(await replace(db), 0));
    assert.deepEqual(await changedBy(() => replace()), ["previous_secret", "sealed_headers", "secret"]);
    await set(all);
    await beginMove();
    assert.equal(await replace(), 0);
  });

  it("lose the former one when its time has ended, and not where the row is locked", async () => {
    const { pool } = database;
    await set("previous_secret = '\\x01', previous_secret_until = now() + interval '1 min'");
    await set("previous_secret_until = now() - interval '1 min'", ONE);
    await whileLocked(clearEndedGraces);
    assert.deepEqual(await changedBy(() => clearEndedGraces(pool)), [
      "previous_secret",
      "previous_secret_until",
    ]);
  });
});
