import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { lowestIdAt, newEndpointId, type EndpointId, type TenantId } from "../shared/id.ts";
import {
  OPERATOR,
  POSTERN,
  UNKNOWN,
  type AuditAction,
  type AuditFilter,
  type NewAuditEntry,
} from "./audit-entry.ts";
import { insertAuditEntries, insertWhoLivesHere, listAuditEntries } from "./audit-store.ts";
import { forgetOldAudit, makeAuditLog, readAuditOfAll, recordDone } from "./audit.ts";

const [acme, globex] = [tenant("acme"), tenant("globex")];
const [one, other] = [newEndpointId(), newEndpointId()];

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(() => database.pool.query("DELETE FROM postern.audit_log; DELETE FROM postern.shard_tenants"));
after(() => database.drop());

type Given = { tenantId?: TenantId | null; action?: AuditAction; endpointId?: EndpointId | null };

const entryOf = ({
  tenantId = acme,
  action = "endpoint.created",
  endpointId = null,
}: Given): NewAuditEntry => ({
  tenantId,
  actor: { type: "user", sub: "ada" },
  action,
  endpointId,
  outcome: "done",
  details: { fields: ["url"] },
  requestId: randomUUID(),
  address: "203.0.113.7",
});

const all = (
  filter: AuditFilter = {},
  { tenantId = null, limit = 100 }: { tenantId?: TenantId | null; limit?: number } = {},
) => readAuditOfAll(database.pool, { tenantId, filter, limit });

describe("the entries of the audit log", () => {
  it("are read as they were written, by whomever, newest first", async () => {
    const refused = { outcome: "refused", requestId: null, address: null } as const;
    const given: NewAuditEntry[] = [entryOf({ endpointId: one })];
    for (const actor of [OPERATOR, POSTERN, UNKNOWN]) {
      given.push({ ...entryOf({ tenantId: null }), ...refused, actor });
    }
    for (const entry of given) await insertAuditEntries(database.pool, [entry]);
    const read = await all();
    assert.deepEqual(
      read.map(({ id: _id, at: _at, ...entry }) => entry),
      given.toReversed(),
    );
    assert.ok(read.every(({ at }) => Math.abs(Date.now() - at.getTime()) < 60_000));
    assert.deepEqual(
      read.map(({ actor }) => actor.type),
      ["unknown", "postern", "operator", "user"],
    );
  });

  it("of what a tenant's user did say that it was done", async () => {
    const { outcome: _outcome, action, endpointId, details, ...caller } = entryOf({ endpointId: one });
    await recordDone(database.pool, { ...caller, tenantId: acme }, { action, endpointId, details });
    const [entry] = await all();
    const { id: _id, at: _at, ...read } = entry ?? {};
    assert.deepEqual(read, { ...caller, action, endpointId, details, outcome: "done" });
  });

  it("are found by action, endpoint, time and the place of the page", async () => {
    for (const entry of [
      entryOf({ endpointId: one }),
      entryOf({ endpointId: other }),
      entryOf({ action: "endpoint.deleted", endpointId: one }),
      entryOf({ tenantId: globex }),
    ]) {
      await insertAuditEntries(database.pool, [entry]);
    }
    const [fourth, third, second, first] = await all();
    assert.ok(fourth && third && second && first);
    const tenants = openTenantPool(database, 1);
    const log = makeAuditLog(tenants);
    const found = async (filter: AuditFilter) => {
      const ids = (await all(filter, { tenantId: acme })).map(({ id }) => id);
      assert.deepEqual(
        (await log.list(acme, { filter, limit: 100 })).map(({ id }) => id),
        ids,
      );
      return ids;
    };
    try {
      assert.deepEqual(await found({}), [third.id, second.id, first.id]);
      assert.deepEqual(await found({ action: "endpoint.created" }), [second.id, first.id]);
      assert.deepEqual(await found({ endpointId: one }), [third.id, first.id]);
      assert.deepEqual(await found({ endpointId: one, action: "endpoint.created" }), [first.id]);
      assert.deepEqual(await found({ before: third.id }), [second.id, first.id]);
      const [fromMs, toMs] = [first.at.getTime(), third.at.getTime() + 1];
      assert.deepEqual(await found({ fromMs, toMs }), [third.id, second.id, first.id]);
      assert.deepEqual(await found({ fromMs: toMs }), []);
      assert.deepEqual(await found({ toMs: fromMs }), []);
      assert.deepEqual(
        (await log.list(acme, { filter: {}, limit: 2 })).map(({ id }) => id),
        [third.id, second.id],
      );
      assert.deepEqual(
        (await all({}, { limit: 1 })).map(({ id }) => id),
        [fourth.id],
      );
      await database.pool.query("UPDATE postern.audit_log SET id = $2 WHERE id = $1", [
        third.id,
        lowestIdAt(toMs),
      ]);
      assert.deepEqual(await found({ fromMs: toMs }), [lowestIdAt(toMs)]);
      assert.deepEqual(await found({ fromMs, toMs }), [second.id, first.id]);
      const own = await listAuditEntries(database.pool, acme, { filter: {}, limit: 100 });
      assert.equal(own.length, 3);
    } finally {
      await tenants.end();
    }
  });

  it("go after their year, and it is said whether there may be more", async () => {
    await insertAuditEntries(database.pool, [entryOf({}), entryOf({})]);
    await database.pool.query(
      `UPDATE postern.audit_log SET id = postern.lowest_id_at(now() - interval '366 days')
        WHERE id = (SELECT id FROM postern.audit_log ORDER BY id LIMIT 1)`,
    );
    assert.deepEqual(
      [await forgetOldAudit(database.pool), await forgetOldAudit(database.pool)],
      [true, false],
    );
    assert.equal((await all()).length, 1);
  });

  it("of a tenant that lives elsewhere are refused, each of them, and all others are written", async () => {
    await database.pool.query(
      "INSERT INTO postern.shard_tenants (tenant_id, version, fenced) VALUES ($1, 1, true), ($2, 1, false)",
      [acme, globex],
    );
    const given = [acme, globex, null, acme].map((tenantId) => entryOf({ tenantId }));
    assert.deepEqual(await insertWhoLivesHere(database.pool, given), [given[0], given[3]]);
    assert.deepEqual(
      (await all()).map(({ tenantId }) => tenantId),
      [null, globex],
    );
  });
});
