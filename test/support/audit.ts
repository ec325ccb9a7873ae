/** What tests read of the audit log, as a tenant's owner. */
import assert from "node:assert/strict";
import * as z from "zod";
import { auditObject } from "../../src/api/schemas.ts";
import type { CallOptions, Claims } from "./calls.ts";
import type { TestService } from "./service.ts";
import { webhooksOf } from "./webhooks.ts";

export const auditAnswer = z.strictObject({ entries: z.array(auditObject.strict()) });

let tenants = 0;

/** A tenant that has done nothing yet. */
export function newTenant(service: TestService) {
  const tid = `tenant-${++tenants}`;
  const owner: Claims = { type: "user", tid, sub: "ada", role: "owner" };
  const read = (query = "", options: CallOptions = {}) =>
    service.call("GET", `/api/audit${query}`, { as: owner, ...options });
  async function entries(query = "") {
    const found = await read(query);
    assert.equal(found.status, 200, found.text);
    return auditAnswer.parse(found.body).entries;
  }
  /** Action and details of each entry, oldest first. */
  async function told(query = "") {
    return (await entries(query)).toReversed().map(({ action, details }) => [action, details]);
  }
  return { tid, owner, read, entries, told, webhooks: webhooksOf(service, owner) };
}
