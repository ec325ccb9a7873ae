/** The audit log while somebody fails to authenticate from everywhere: it stays short, and names whom it can. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { startTestService } from "./support/service.ts";

const NETWORKS = 100;
let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

/** What a process has added of failed authentications from these addresses, once it has stopped. */
async function entriesOf(addresses: readonly string[]) {
  await database.pool.query("TRUNCATE postern.audit_log");
  const env = { TRUSTED_PROXIES: "127.0.0.0/8", RATE_LIMIT_AUTH: "1" };
  const service = await startTestService({ database, env, roles: ["api"] });
  for (const address of addresses) {
    await service.call("GET", "/api/webhooks", { as: null, headers: { "X-Forwarded-For": address } });
  }
  await service.stop();
  const { rows } = await database.pool.query(
    "SELECT action, address, (details ->> 'count')::int AS count FROM postern.audit_log ORDER BY action, address",
  );
  return rows;
}

describe("failed authentications", () => {
  it("of one IPv6 network are one entry, whatever addresses it writes, and hide no other", async () => {
    const many = Array.from({ length: 3 * NETWORKS }, (_, host) => `2001:db8:0:1::${host.toString(16)}`);
    assert.deepEqual(await entriesOf([...many, "203.0.113.7"]), [
      { action: "authentication.failed", address: "2001:db8:0:1::/64", count: 300 },
      { action: "authentication.failed", address: "203.0.113.7", count: 1 },
      { action: "limit.reached", address: "2001:db8:0:1::/64", count: 299 },
    ]);
  });

  it("of more than a hundred networks in a minute leave a hundred and one entries, and none is uncounted", async () => {
    const rows = await entriesOf(Array.from({ length: 250 }, (_, host) => `203.0.113.${host}`));
    assert.equal(rows.length, NETWORKS + 1);
    const counts = rows.map(({ address, count }) => [address === null, count]);
    assert.deepEqual(
      counts.filter(([isShared]) => isShared === true),
      [[true, 150]],
    );
    assert.ok(counts.every(([isShared, count]) => isShared === true || count === 1));
  });
});
