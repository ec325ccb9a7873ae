/** A minute's counts are written at its end, and the next minute begins with none; limits are in test/audit-flood.test.ts. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { it } from "node:test";
import { pino } from "pino";
import { eventually } from "../../test/support/eventually.ts";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { UNKNOWN } from "./audit-entry.ts";
import { makeAuditTally } from "./audit-tally.ts";

const MOST_ADDRESSES = 100;
const MOST_CALLERS = 50;

it("each minute's tally is written, and counts, addresses and callers begin anew", async (test) => {
  const { pool, drop } = await createTestDatabase();
  test.after(drop);
  const tally = makeAuditTally({ db: pool, log: pino({ level: "silent" }) });
  test.mock.timers.enable({ apis: ["setTimeout"] });
  for (const minute of [1, 2, 3]) {
    for (let n = 0; n < MOST_ADDRESSES; n++)
      tally.failedAuthentication({ address: `192.0.2.${n} in minute ${minute}`, requestId: randomUUID() });
    for (let n = 0; n < MOST_CALLERS; n++) {
      const actor = { ...UNKNOWN, sub: `${n} in minute ${minute}` };
      const caller = { tenantId: tenant("acme"), actor, requestId: null, address: null };
      tally.accessRefused({ caller, route: "GET /api/webhooks", status: 403 });
    }
    test.mock.timers.tick(60_000);
    await eventually(async () => {
      const { rows } = await pool.query("SELECT count(*)::int AS count FROM postern.audit_log");
      return rows[0].count === minute * (MOST_ADDRESSES + MOST_CALLERS);
    });
  }
  const { rows } = await pool.query(
    `SELECT DISTINCT action, details -> 'count' AS count, address IS NULL AND actor_sub IS NULL AS shared
      FROM postern.audit_log ORDER BY action`,
  );
  assert.deepEqual(rows, [
    { action: "access.refused", count: 1, shared: false },
    { action: "authentication.failed", count: 1, shared: false },
  ]);
  test.mock.timers.reset();
  await tally.close();
});
