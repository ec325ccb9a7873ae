/** Readers of one tenant's log, held up in the database: they take their share of the connections, and others are served. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { idAt } from "../src/shared/id.ts";
import { OTHER_OWNER, OWNER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

/** Of a page far back, which reads the only row of the log. */
const FAR_BACK = "deliveries?page=200&limit=100";
const ENDPOINT = "019a2f00-0000-7000-8000-000000000001";
/** Of ten connections five are for tenants; of these four for reading logs, two of them for one tenant's. */
const SHARE = 2;

let service: TestService;

before(async () => {
  service = await startTestService({ roles: ["api"], env: { DATABASE_POOL_SIZE: "10" } });
  const sql = (text: string, values: unknown[] = []) => service.database.pool.query(text, values);
  // Each of acme's rows waits for as long as the test has a row here.
  await sql("CREATE TABLE postern.test_held (held boolean)");
  await sql("CREATE SEQUENCE postern.test_reads");
  await sql(
    "GRANT SELECT ON postern.test_held TO postern_tenant; GRANT USAGE ON postern.test_reads TO postern_tenant",
  );
  await sql(`CREATE FUNCTION postern.test_wait(tenant text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
      IF tenant = 'acme' THEN PERFORM nextval('postern.test_reads'); END IF;
      WHILE tenant = 'acme' AND EXISTS (SELECT FROM postern.test_held) LOOP PERFORM pg_sleep(0.01); END LOOP;
      RETURN true;
    END $$`);
  await sql(`CREATE POLICY test_wait ON postern.deliveries AS RESTRICTIVE FOR SELECT TO postern_tenant
      USING (postern.test_wait(tenant_id))`);
  for (const tenant of ["acme", "globex"]) {
    await sql(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, test_id, event_type, trigger, status, attempt,
          request_headers, latency_ms)
        VALUES ($1, $2, $3, $3, 'invoice.paid', 'test', 'test', 1, '{}', 1)`,
      [tenant, ENDPOINT, idAt(Date.now())],
    );
  }
});
after(async () => {
  await release();
  await service.stop();
});

const hold = () => service.database.pool.query("INSERT INTO postern.test_held VALUES (true)");
const release = () => service.database.pool.query("DELETE FROM postern.test_held");

async function countHeld(): Promise<number> {
  const { rows } = await service.database.pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND query LIKE '%deliveries%'`,
  );
  return rows[0]?.count ?? 0;
}

/** What another tenant, and this one, can do while so many reads of a path are held; then all are answered. */
async function othersBeside(path: string, held: number): Promise<void> {
  await hold();
  const reads = Array.from({ length: 12 }, () => service.call("GET", path));
  await eventually(async () => (await countHeld()) === held);
  for (const query of ["", "?event_type=invoice.rare", "?q=nothing", "?status=failed"]) {
    const found = await service.call("GET", `/api/deliveries${query}`, { as: OTHER_OWNER });
    assert.equal(found.status, 200, query);
  }
  const page = `/api/webhooks/${ENDPOINT}/deliveries`;
  const log = await service.call("GET", page, { as: OTHER_OWNER });
  assert.equal(Object(log.body).deliveries.length, 1);
  assert.equal((await service.call("GET", "/api/webhooks")).status, 200);
  assert.equal(await countHeld(), held);
  await release();
  for (const answer of await Promise.all(reads)) assert.equal(answer.status, 200, answer.text);
}

describe("twelve reads of one tenant's log that the database takes long for", () => {
  it("hold no more than the tenant's share of the connections", async () => {
    await othersBeside("/api/deliveries?event_type=invoice.rare", SHARE);
  });

  it("hold one connection where they ask for a page far back", async () => {
    await othersBeside(`/api/webhooks/${ENDPOINT}/${FAR_BACK}`, 1);
  });
});

it("a page far back whose client has gone by its turn is not read", async () => {
  const page = `/api/webhooks/${ENDPOINT}/${FAR_BACK}`;
  const countReads = async () => {
    const { rows } = await service.database.pool.query(
      "SELECT last_value::int AS reads FROM postern.test_reads",
    );
    return rows[0].reads;
  };
  await hold();
  const reads = await countReads();
  const first = service.call("GET", page);
  await eventually(async () => (await countHeld()) === 1);
  const authorization = `Bearer ${await service.token(OWNER)}`;
  const leaving = new AbortController();
  const left = Array.from({ length: 3 }, () =>
    fetch(`${service.url}${page}`, { headers: { authorization }, signal: leaving.signal }),
  );
  const later = await service.call("GET", page.replace("200", "1"), { as: OTHER_OWNER });
  assert.equal(later.status, 200);
  leaving.abort();
  await assert.rejects(Promise.any(left));
  assert.equal((await service.call("GET", page, { as: OTHER_OWNER })).status, 200);
  await release();
  assert.equal((await first).status, 200);
  assert.equal((await service.call("GET", page)).status, 200);
  assert.equal((await countReads()) - reads, 2);
});
