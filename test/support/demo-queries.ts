/** The queries of the demonstration, for the tests of what a role may do. */
import assert from "node:assert/strict";
import type { Db } from "../../src/database/pool.ts";
import * as week from "../../src/demo/week-store.ts";
import { newEndpointId } from "../../src/shared/id.ts";
import { tenant } from "./two-tenants.ts";

export const asOwner: Record<string, (db: Db) => Promise<unknown>> = {
  hasEndpoints: (db) => week.hasEndpoints(db, tenant("acme")),
  // Only the owner may do these.
  makePartitionsOfWeek: (db) => week.makePartitionsOfWeek(db).catch(assertRefused),
  insertWeek: (db) => week.insertWeek(db, tenant("acme"), emptyWeek()).catch(assertRefused),
};

function assertRefused(error: unknown): void {
  assert.match(String(error), /permission denied for/);
}

function emptyWeek(): week.WeekLog {
  const [healthy, slow, flaky, dead] = [newEndpointId(), newEndpointId(), newEndpointId(), newEndpointId()];
  return {
    week: { events: [], attempts: [], pending: [] },
    nowMs: Date.now(),
    endpointIds: { healthy, slow, flaky, dead },
    headersOf: () => ({}),
  };
}
