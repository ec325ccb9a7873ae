/** What a user's changes set off and what they refuse; over HTTP it is in test/endpoints.test.ts. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { pino } from "pino";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { ADA, tenant } from "../../test/support/two-tenants.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import type { EndpointId } from "../shared/id.ts";
import { parseWebhookUrl } from "../outbound/url-rules.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeSecretBox } from "../shared/secret-box.ts";
import { Endpoints } from "./endpoints.ts";

const ACME = tenant("acme");
let database: TestDatabase;
let tenants: TenantPool;
let endpoints: Endpoints;
/** Whose pending dispatches were to follow. */
let followed: unknown[];
before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 2);
  endpoints = new Endpoints({
    tenants,
    guard: {
      parse: (text) => parseWebhookUrl(text, { blockedPorts: new Set(), privateTargetsAllowed: false }),
      checkUrl: () => Promise.resolve("safe"),
    },
    secretBox: makeSecretBox([Buffer.alloc(32, 1)]),
    maxEndpointsPerTenant: 9,
    refusals: { refused: () => Promise.resolve() },
    queue: { endpointChanged: async (changed) => void followed.push(changed) },
    log: pino({ level: "silent" }),
  });
});
beforeEach(async () => {
  followed = [];
  await database.pool.query("DELETE FROM postern.endpoints");
});
after(async () => {
  await tenants.end();
  await database.drop();
});

async function create(input: Partial<Parameters<Endpoints["create"]>[1]> = {}): Promise<EndpointId> {
  const { endpoint } = await endpoints.create(ADA, { url: "https://example.com/", ...input });
  return endpoint.id;
}

const refusedAs = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;

describe("a change of an endpoint", () => {
  it("is followed by its dispatches where it is switched, changes its mode or ends, and else by none", async () => {
    const endpointId = await create();
    await endpoints.update(ADA, endpointId, { description: "more" });
    await endpoints.update(ADA, endpointId, {});
    await endpoints.rotateSecret(ADA, endpointId, { graceSeconds: 0 });
    assert.deepEqual(followed, []);
    for (const change of [{ enabled: false }, { enabled: true }, { mode: "pull" }] as const) {
      await endpoints.update(ADA, endpointId, change);
    }
    await endpoints.remove(ADA, endpointId);
    assert.deepEqual(
      followed,
      Array.from({ length: 4 }, () => ({ tenantId: ACME, endpointId })),
    );
  });

  it("never sends to a temporary one, which may be changed otherwise", async () => {
    const id = await create({ mode: "pull", temporary: true });
    await assert.rejects(endpoints.update(ADA, id, { mode: "push" }), refusedAs("endpoint_temporary"));
    assert.equal((await endpoints.update(ADA, id, { mode: "pull", description: "more" })).mode, "pull");
    const lasting = await create({ mode: "pull" });
    assert.equal((await endpoints.update(ADA, lasting, { mode: "push" })).mode, "push");
  });

  it("is refused where there is no such endpoint", async () => {
    for (const id of [null, await create()]) {
      if (id !== null) await endpoints.remove(ADA, id);
      followed = [];
      const refused = refusedAs("not_found");
      await assert.rejects(endpoints.get(ACME, id), refused);
      await assert.rejects(endpoints.health(ACME, id), refused);
      for (const change of [{}, { enabled: true }, { mode: "push" as const }, { headers: {} }]) {
        await assert.rejects(endpoints.update(ADA, id, change), refused);
      }
      await assert.rejects(endpoints.rotateSecret(ADA, id, { graceSeconds: 0 }), refused);
      await assert.rejects(endpoints.remove(ADA, id), refused);
      assert.deepEqual(followed, []);
    }
  });
});
