/** What a user does with stored artifacts is in the audit log, once each, and never the link itself. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { newTenant } from "./support/audit.ts";
import { lastHour, seedMany, storageOf } from "./support/exports.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { UNKNOWN_ID } from "./support/webhooks.ts";

let dataDir: string;
let service: TestService;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "postern-audit-"));
  service = await startTestService({ env: { DATA_DIR: dataDir } });
});
after(async () => {
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
});

describe("what a user does with artifacts", () => {
  it("is told once each: the export asked for, and the link given out without its URL", async () => {
    const { tid, owner, entries } = newTenant(service);
    await seedMany(service.database.pool, tid, 2);
    const storage = storageOf(service, owner);
    const { from } = lastHour();
    const id = await storage.request({ from, to: new Date().toISOString() });
    const found = await storage.waitFor(id);
    const link = await storage.link({ id: found.object_id ?? "", delivery_id: id });
    const [granted, asked, ...others] = await entries();
    assert.deepEqual(others, []);
    for (const entry of [granted, asked]) {
      assert.deepEqual(entry?.actor, { type: "user", sub: owner.sub });
      assert.deepEqual([entry?.outcome, entry?.address], ["done", "127.0.0.1"]);
    }
    assert.equal(asked?.action, "export.requested");
    assert.deepEqual([asked?.details["export_id"], asked?.details["from"]], [id, from]);
    assert.equal(granted?.action, "artifact.download_granted");
    assert.equal(granted?.request_id, link.headers.get("x-request-id"));
    assert.deepEqual(granted?.details, {
      object_id: found.object_id,
      delivery_id: id,
      expires_at: link.expires_at,
    });
    const { rows } = await service.database.pool.query(
      "SELECT row_to_json(a)::text AS text FROM postern.audit_log a WHERE tenant_id = $1",
      [tid],
    );
    const secret = new URL(link.url).searchParams.get("X-Amz-Signature");
    assert.ok(secret !== null);
    for (const { text } of rows) assert.ok(!text.includes("X-Amz") && !text.includes(secret), text);
  });

  it("is done for a user whose name PostgreSQL cannot keep as it is", async () => {
    const { tid, owner, entries } = newTenant(service);
    await seedMany(service.database.pool, tid, 1);
    const storage = storageOf(service, { ...owner, sub: "\u0000\ud800" });
    const id = await storage.request(lastHour());
    const found = await storage.waitFor(id);
    await storage.link({ id: found.object_id ?? "", delivery_id: id });
    assert.deepEqual(
      (await entries()).map(({ action, actor }) => [action, actor.sub]),
      [
        ["artifact.download_granted", "\ufffd\ufffd"],
        ["export.requested", "\ufffd\ufffd"],
      ],
    );
    const { rows } = await service.database.pool.query(
      "SELECT requested_by FROM postern.storage_exports WHERE id = $1",
      [id],
    );
    assert.deepEqual(rows, [{ requested_by: "\ufffd\ufffd" }]);
  });

  it("is not told where it was refused", async () => {
    const { owner, entries } = newTenant(service);
    const { call } = storageOf(service, owner);
    const range = { from: "2001-01-01T00:00:00.000Z", to: "2009-01-01T00:00:00.000Z" };
    assert.equal((await call("POST", "/exports", { json: range })).status, 400);
    const json = { delivery_id: UNKNOWN_ID };
    assert.equal((await call("POST", `/objects/${UNKNOWN_ID}/download`, { json })).status, 404);
    assert.deepEqual(await entries(), []);
  });

  it("includes what the tenant chose to keep", async () => {
    const { owner, told } = newTenant(service);
    const json = { keep_request_bodies: true, keep_response_bodies: false, artifact_days: 7 };
    await storageOf(service, owner).call("PUT", "/settings", { json });
    assert.deepEqual(await told(), [["storage_settings.updated", json]]);
  });
});
