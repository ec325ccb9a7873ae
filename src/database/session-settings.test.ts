import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { parseTenantId } from "../shared/id.ts";
import { createPool, type Db } from "./pool.ts";
import { openRolePools } from "./role-pools.ts";
import { connectTo } from "./session-settings.ts";

const NAMES = [
  "jit",
  "default_transaction_isolation",
  "transaction_isolation",
  "enable_seqscan",
  "plan_cache_mode",
  "geqo",
  "DateStyle",
  "row_security",
  "idle_session_timeout",
  "TimeZone",
  "standard_conforming_strings",
  "array_nulls",
];

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
  // An administrator's choice for the whole database, which is not for us.
  await database.pool.query(`DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET jit = on', current_database());
    EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = ''serializable''', current_database());
    EXECUTE format('ALTER DATABASE %I SET DateStyle = ''German''', current_database());
    EXECUTE format('ALTER DATABASE %I SET row_security = off', current_database());
    EXECUTE format('ALTER DATABASE %I SET idle_session_timeout = ''1h''', current_database());
    EXECUTE format('ALTER DATABASE %I SET TimeZone = ''Africa/Cairo''', current_database());
    EXECUTE format('ALTER DATABASE %I SET standard_conforming_strings = off', current_database());
    EXECUTE format('ALTER DATABASE %I SET array_nulls = off', current_database());
  END $$`);
});
after(() => database.drop());

const options = (url: string) => ({
  url,
  poolSize: 5,
  applicationName: "settings test",
  connectionTimeoutMs: 5000,
});

async function settingsOf(db: Db): Promise<Record<string, string>> {
  const { rows } = await db.query<{ name: string; value: string }>(
    "SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name",
    [NAMES],
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

async function settingsOfEach(url: string) {
  const pools = openRolePools(options(url), { servesApi: true, works: true, relays: false });
  const plain = createPool(options(url));
  const tenantId = parseTenantId("acme");
  assert.ok(tenantId);
  try {
    return {
      tenant: await settingsOf(pools.tenants.of(tenantId)),
      publisher: await settingsOf(pools.publisher),
      worker: await settingsOf(pools.worker),
      plain: await settingsOf(plain),
    };
  } finally {
    await pools.close();
    await plain.end();
  }
}

const OURS = {
  jit: "off",
  default_transaction_isolation: "read committed",
  transaction_isolation: "read committed",
  enable_seqscan: "on",
  plan_cache_mode: "auto",
  geqo: "on",
  DateStyle: "ISO, MDY",
  row_security: "on",
  idle_session_timeout: "0",
  TimeZone: "UTC",
  standard_conforming_strings: "on",
  array_nulls: "on",
};
const SERVING = { ...OURS, enable_seqscan: "off" };
const PLANNED_ONCE = { ...SERVING, plan_cache_mode: "force_generic_plan" };

it("every connection has its settings, whatever the database's are", async () => {
  assert.deepEqual(await settingsOfEach(database.url), {
    tenant: SERVING,
    publisher: PLANNED_ONCE,
    worker: PLANNED_ONCE,
    plain: OURS,
  });
});

it("the last options of a URL hold, and all else of it stays", () => {
  const ours = [
    "-c jit=off -c default_transaction_isolation=read\\ committed",
    "-c DateStyle=ISO -c row_security=on -c idle_session_timeout=0",
    "-c TimeZone=UTC -c standard_conforming_strings=on -c array_nulls=on",
  ].join(" ");
  for (const [url, connectionString, theirs] of [
    ["postgres://a,b/d", "postgres://a,b/d", ""],
    ["postgres://a/d?x=%20y", "postgres://a/d?x=%20y", ""],
    ["postgres://a/d?options=-c%20a%3D1&x=1&options=-c%20b%3D2", "postgres://a/d?x=1", " -c b=2"],
  ] as const) {
    assert.deepEqual(connectTo(url, undefined), { connectionString, options: `${ours}${theirs}` });
  }
});

it("an administrator's own options in the URL hold, and win", async () => {
  const url = new URL(database.url);
  url.searchParams.set("options", "-c geqo=off -c enable_seqscan=on");
  url.searchParams.set("sslmode", "disable");
  const theirs = { ...OURS, geqo: "off" };
  assert.deepEqual(await settingsOfEach(url.href), {
    tenant: theirs,
    publisher: { ...theirs, plan_cache_mode: "force_generic_plan" },
    worker: { ...theirs, plan_cache_mode: "force_generic_plan" },
    plain: theirs,
  });
});
