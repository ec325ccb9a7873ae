/** What the operator's backend has done for any tenant: see tenancy-queries.test.ts. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type { Db } from "../../src/database/pool.ts";
import * as portal from "../../src/portal/portal-session-store.ts";
import { newPortalSessionId } from "../../src/shared/id.ts";
import { tenant } from "./two-tenants.ts";

const grant = { tenantId: tenant("acme"), subject: "ada", role: "owner", isReadOnly: false } as const;

export const forServices: Record<string, (db: Db) => Promise<unknown>> = {
  insertCode: (db) =>
    portal.insertCode(db, { id: newPortalSessionId(), grant, codeHash: randomBytes(32), minutes: 60 }),
  useCode: async (db) => {
    const opened = await portal.useCode(db, createHash("sha256").update("acme").digest());
    assert.equal(opened?.grant.tenantId, "acme");
  },
  insertSession: async (db) => {
    const id = newPortalSessionId();
    await portal.insertSession(db, { id, grant, minutes: 15 });
    assert.equal((await portal.findSession(db, id))?.grant.tenantId, "acme");
  },
  findSession: (db) => portal.findSession(db, newPortalSessionId()),
  deleteSession: (db) => portal.deleteSession(db, newPortalSessionId()),
};

export const acrossTenants: Record<string, (db: Db) => Promise<unknown>> = {
  forgetPortalSessions: (db) => portal.forgetPortalSessions(db),
};
