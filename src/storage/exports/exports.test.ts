/** Asking for exports on a real database; over HTTP it is in test/exports.test.ts. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { openTenantPool } from "../../../test/support/tenant-pool.ts";
import { ADA, tenant } from "../../../test/support/two-tenants.ts";
import type { TenantPool } from "../../database/tenant-pool.ts";
import { newEndpointId, newExportId } from "../../shared/id.ts";
import { Refusal } from "../../shared/refusal.ts";
import { makeExports, type Exports } from "./exports.ts";

const DAY_MS = 86_400_000;
const ACME = tenant("acme");
const TO = new Date("2026-03-01T12:00:00.000Z");
const FROM = new Date(TO.getTime() - 1);
const ASKED = {
  from: FROM,
  to: TO,
  endpointId: null,
  eventType: "invoice.*",
  deliveryStatus: "failed",
  formats: ["csv", "parquet"],
  requestedBy: "ada",
} as const;
let database: TestDatabase;
let tenants: TenantPool;
let exports: Exports;
before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 2);
  exports = makeExports(tenants);
});
beforeEach(() => database.pool.query("DELETE FROM postern.storage_exports; DELETE FROM postern.audit_log"));
after(async () => {
  await tenants.end();
  await database.drop();
});

const request = (changed: Partial<Parameters<Exports["request"]>[1]> = {}) =>
  exports.request(ADA, { ...ASKED, ...changed });

async function refusal(work: Promise<unknown>): Promise<[code: string, issues: string[]]> {
  const error = await work.then(
    () => assert.fail("it was not refused"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Refusal);
  return [error.code, (error.issues ?? []).map(({ path, message }) => `${path.join(".")} ${message}`)];
}

const at = (ms: number) => new Date(TO.getTime() - ms);

describe("asking for an export", () => {
  it("queues it as asked for, and notes who asked", async () => {
    const id = await request();
    const { createdAt: _, updatedAt: __, ...found } = await exports.get(ACME, id);
    const { requestedBy, ...asked } = ASKED;
    assert.deepEqual(found, {
      ...asked,
      tenantId: ACME,
      id,
      status: "queued",
      attempt: 0,
      rowsTotal: null,
      rowsDone: 0,
      bytes: 0,
      objectId: null,
      error: null,
    });
    const { rows } = await database.pool.query(
      `SELECT requested_by, action, audit_log.endpoint_id, details FROM postern.storage_exports, postern.audit_log`,
    );
    assert.deepEqual(rows, [
      {
        requested_by: requestedBy,
        action: "export.requested",
        endpoint_id: null,
        details: {
          export_id: id,
          from: FROM.toISOString(),
          to: TO.toISOString(),
          event_type: "invoice.*",
          delivery_status: "failed",
          formats: ["csv", "parquet"],
        },
      },
    ]);
  });

  it("takes a range of a millisecond up to 366 days, and no other", async () => {
    await request({ from: at(366 * DAY_MS) });
    const [code, issues] = await refusal(request({ from: at(366 * DAY_MS + 1) }));
    assert.deepEqual([code, issues], ["validation_failed", ["to must be within 366 days"]]);
    for (const ms of [0, -1]) {
      assert.deepEqual(await refusal(request({ from: at(ms) })), [
        "validation_failed",
        ["from must be before to, and in the past"],
      ]);
    }
  });

  it("ends now where it is asked for to a time to come", async () => {
    const asked = { from: new Date(Date.now() - DAY_MS), to: new Date(Date.now() + 400 * DAY_MS) };
    const { to, createdAt } = await exports.get(ACME, await request(asked));
    assert.ok(Math.abs(to.getTime() - createdAt.getTime()) < 60_000);
  });

  it("finds no endpoint that is none", async () => {
    assert.deepEqual(await refusal(request({ endpointId: "x" })), ["endpoint_not_found", []]);
    assert.deepEqual(await refusal(request({ endpointId: newEndpointId() })), ["endpoint_not_found", []]);
  });

  it("is refused while three are unfinished, and leaves nothing of what is refused", async () => {
    for (let n = 0; n < 3; n++) await request();
    assert.deepEqual(await refusal(request()), ["export_limit_reached", []]);
    await database.pool.query("UPDATE postern.storage_exports SET status = 'failed', error = 'no'");
    await request();
    const { rows } = await database.pool.query("SELECT FROM postern.audit_log");
    assert.equal(rows.length, 4);
  });
});

describe("an export that is looked at", () => {
  it("is its tenant's alone", async () => {
    const id = await request();
    assert.deepEqual(await refusal(exports.get(tenant("globex"), id)), ["not_found", []]);
    assert.deepEqual(await refusal(exports.get(ACME, newExportId())), ["not_found", []]);
    assert.deepEqual(await refusal(exports.get(ACME, null)), ["not_found", []]);
    assert.deepEqual(await exports.list(tenant("globex"), { before: null, limit: 9 }), []);
  });

  it("has expired with its archive, in a list too", async () => {
    const [other, id] = [await request(), await request()];
    await database.pool.query(
      `UPDATE postern.storage_exports SET status = 'ready', object_id = $2 WHERE id = $1`,
      [id, randomUUID()],
    );
    assert.equal((await exports.get(ACME, id)).status, "expired");
    const list = async (page: Parameters<Exports["list"]>[1]) =>
      (await exports.list(ACME, page)).map((one) => [one.id, one.status]);
    assert.deepEqual(await list({ before: null, limit: 9 }), [
      [id, "expired"],
      [other, "queued"],
    ]);
    assert.deepEqual(await list({ before: id, limit: 9 }), [[other, "queued"]]);
  });
});
