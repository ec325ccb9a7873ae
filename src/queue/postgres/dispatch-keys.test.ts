/** What is done to an endpoint's dispatches is done to no others, whichever column of their keys is another. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { addNeighbours, inOneMoment } from "../../../test/support/dispatch-rows.ts";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { completed, leased } from "../../../test/support/store-inputs.ts";
import { LEASE_OWNER } from "../../../test/support/two-tenants.ts";
import type { Db } from "../../database/pool.ts";
import type { LeasedDispatch } from "../queue.ts";
import { parkOldest, pullDispatches } from "./claim-store.ts";
import { completeAttempts } from "./complete-store.ts";
import { endUnfetched, findHeldByLease, leaseHeld } from "./fetch-store.ts";
import {
  endDispatches,
  holdDispatches,
  holdPendingDispatches,
  resumeDispatches,
  supersedeDispatches,
} from "./follow-store.ts";
import { removeReplayed } from "./once-store.ts";
import { deferDispatch, releaseDispatches } from "./release-store.ts";
import { findInFlight } from "./slot-store.ts";

const seeded = seededDatabase();

const PLENTY = { dispatches: 9, bodyBytes: 1e6 };

/** Of the endpoint, in the order of their ids. */
async function dispatchesOf(db: Db): Promise<unknown[]> {
  const { rows } = await db.query(
    "SELECT * FROM postern.dispatches WHERE tenant_id = 'acme' AND endpoint_id = $1 ORDER BY id",
    [seeded.acme.endpointId],
  );
  return rows;
}

/** Of acme's leased dispatch; those of a lease answer nothing without it. */
const BY_LEASE: readonly [name: string, act: (db: Db) => Promise<unknown>][] = [
  ["completes its last attempt", (db) => complete(db, [seeded.acme], { nextDelayMs: null })],
  ["completes it for one more", (db) => complete(db)],
  ["completes it past locks", (db) => completeAttempts(db, [completed(seeded.acme)], "skip")],
  ["completes it for its tenant", (db) => completeAttempts(db, [completed(seeded.acme)], "wait", "tenant")],
  ["holds it", (db) => holdDispatches(db, [leased(seeded.acme)], "wait")],
  ["releases it", (db) => releaseDispatches(db, [leased(seeded.acme)], "parked")],
  ["defers it", (db) => deferDispatch(db, leased(seeded.acme))],
];

type Keys = readonly Pick<LeasedDispatch, "tenantId" | "endpointId">[];
const KEY = `tenant_id AS "tenantId", endpoint_id AS "endpointId"`;

const complete = (db: Db, keys: Keys = [seeded.acme], given = {}) =>
  completeAttempts(
    db,
    keys.map((key) => {
      const whole = completed(Object.assign({ ...seeded.acme }, key));
      return Object.assign(whole, { exhausted: false, toKeep: null }, given);
    }),
    "wait",
  );
const hold = (db: Db, keys: Keys) =>
  holdDispatches(
    db,
    keys.map((key) => leased(Object.assign({ ...seeded.acme }, key))),
    "wait",
  );

const setOwner = (db: Db, owner: string) =>
  db.query(
    "UPDATE postern.dispatches SET lease_owner = $1 WHERE tenant_id = 'acme' AND endpoint_id = $2 AND id = $3",
    [owner, seeded.acme.endpointId, seeded.acme.leasedId],
  );

describe("a leased dispatch", () => {
  it("changes by its lease alone, and no other with it", async () => {
    for (const [name, act] of BY_LEASE) {
      await inOneMoment(seeded.pool, async (session) => {
        const neighbours = await addNeighbours(session, seeded.acme);
        const around = await neighbours();
        await setOwner(session, randomUUID());
        const lost = await dispatchesOf(session);
        await act(session);
        assert.deepEqual(await dispatchesOf(session), lost, `${name} without the lease`);
        await setOwner(session, LEASE_OWNER);
        const had = await dispatchesOf(session);
        await act(session);
        assert.notDeepEqual(await dispatchesOf(session), had, name);
        assert.deepEqual(await neighbours(), around, name);
      });
    }
  });

  it("goes on or is held as its own endpoint is deleted or disabled, and not another", async () => {
    for (const [change, act, isHeld] of [
      ["deleted_at = now()", complete, false],
      ["enabled = false, disabled_reason = 'manual'", hold, true],
    ] as const) {
      await inOneMoment(seeded.pool, async (session) => {
        await session.query("DELETE FROM postern.dispatches WHERE id <> $1", [seeded.acme.leasedId]);
        await addNeighbours(session, seeded.acme);
        const { rows: keys } = await session.query<Keys[number]>(`SELECT ${KEY} FROM postern.dispatches`);
        await session.query(
          `UPDATE postern.endpoints SET ${change} WHERE NOT (tenant_id = 'acme' AND id = $1)`,
          [seeded.acme.endpointId],
        );
        await act(session, keys);
        const { rows } = await session.query<Keys[number]>(
          `SELECT ${KEY} FROM postern.dispatches WHERE held = $1`,
          [isHeld],
        );
        const isOwn = (key: Keys[number]) =>
          key.tenantId === seeded.acme.tenantId && key.endpointId === seeded.acme.endpointId;
        assert.deepEqual(rows.map(isOwn), isHeld ? [false, false] : [true], change);
      });
    }
  });

  it("is found by its whole key", () =>
    inOneMoment(seeded.pool, async (session) => {
      const { tenantId, endpointId, leasedId: id } = seeded.acme;
      const given = { tenantId, endpointId, id, leaseId: LEASE_OWNER };
      const has = async () =>
        [
          await findInFlight(session, [given]),
          await findHeldByLease(session, seeded.acme, LEASE_OWNER, [id]),
        ].map((found) => found.length);
      await addNeighbours(session, seeded.acme);
      assert.deepEqual(await has(), [1, 1]);
      await setOwner(session, randomUUID());
      assert.deepEqual(await has(), [0, 0]);
    }));
});

it("changes an endpoint's dispatches, and no others", async () => {
  const PULL = "UPDATE postern.endpoints SET mode = 'pull' WHERE tenant_id = 'acme' AND id = $1";
  const HELD =
    "UPDATE postern.dispatches SET held = true, lease_owner = NULL, claimable_at = now() - interval '4 days' WHERE endpoint_id = $1";
  for (const [name, prepared, act] of [
    ["parks the oldest", [], (db) => parkOldest(db, [seeded.acme])],
    ["pulls the parked", [], (db) => pullDispatches(db, LEASE_OWNER, [{ ...seeded.acme, ...PLENTY }])],
    ["leases the held", [HELD], (db) => leaseHeld(db, seeded.acme, LEASE_OWNER, PLENTY)],
    ["ends what nobody fetched", [PULL, HELD], (db) => endUnfetched(db, 3)],
    ["holds the pending", [], (db) => holdPendingDispatches(db, seeded.acme, null)],
    ["resumes the held", [HELD], (db) => resumeDispatches(db, seeded.acme, null)],
    ["ends all", [], (db) => endDispatches(db, seeded.acme, null)],
    ["supersedes those of an event", [], (db) => supersedeDispatches(db, seeded.acme)],
    ["takes back a replay's", [], (db) => removeReplayed(db, seeded.acme)],
  ] satisfies [string, string[], (db: Db) => Promise<unknown>][]) {
    await inOneMoment(seeded.pool, async (session) => {
      for (const statement of prepared) await session.query(statement, [seeded.acme.endpointId]);
      const neighbours = await addNeighbours(session, seeded.acme);
      await session.query(
        "UPDATE postern.endpoints SET mode = 'push' WHERE tenant_id <> 'acme' OR id <> $1",
        [seeded.acme.endpointId],
      );
      const [had, around] = [await dispatchesOf(session), await neighbours()];
      await act(session);
      assert.notDeepEqual(await dispatchesOf(session), had, name);
      assert.deepEqual(await neighbours(), around, name);
    });
  }
});
