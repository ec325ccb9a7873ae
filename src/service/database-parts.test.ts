/** The parts of one database: what they share its connections by, and what they leave. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { freePort } from "../../test/support/free-port.ts";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { makeSecrets, readConfig, type Environment } from "../config.ts";
import type { Residence } from "../database/residence.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { inTurn } from "../shared/ending.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeDatabaseParts } from "./database-parts.ts";
import { makeProcessParts } from "./process-parts.ts";
import type { Role } from "./service-options.ts";

const ELSEWHERE: Residence = { versionOf: () => null };

/** Not started. */
async function partsOf(roles: readonly Role[], env: Environment, residence: Residence | null = null) {
  const databaseUrl = env["DATABASE_URL"] ?? `postgres://127.0.0.1:${await freePort()}/nothing`;
  const settings = { DATABASE_URL: databaseUrl, DATA_DIR: temporaryPath("data") };
  const options = {
    config: readConfig({ ...makeSecrets(), ...settings, ...env }),
    catalog: await openCatalog(undefined),
    databaseUrl,
    migrations: [],
    roles: new Set(roles),
    log: makeLog("silent"),
  };
  const process = await makeProcessParts(options);
  const place = { databaseUrl, metrics: process.metrics, residence, eraseElsewhere: null };
  const parts = await makeDatabaseParts(options, process, place);
  return { process, parts, close: () => inTurn([process.stopSending, parts.close, process.close]) };
}

/** Its connections for work, and for events that come in. */
async function sharesOf(...given: Parameters<typeof partsOf>): Promise<unknown[]> {
  const { parts, close } = await partsOf(...given);
  await close();
  return [parts.pools.worker.options.max, parts.pools.publisher.options.max];
}

it("a worker keeps connections for events that it takes from an intake or another database, beside an API also where it publishes", async () => {
  const size = { DATABASE_POOL_SIZE: "20" };
  const intake = { ...size, INTAKE_URL: `nats://127.0.0.1:${await freePort()}` };
  assert.deepEqual(await sharesOf(["worker"], size), [19, 1]);
  assert.deepEqual(await sharesOf(["worker"], intake), [14, 5]);
  assert.deepEqual(await sharesOf(["worker"], size, ELSEWHERE), [14, 5]);
  assert.deepEqual(await sharesOf(["api"], size), [1, 9]);
  assert.deepEqual(await sharesOf(["api", "worker"], size), [10, 5]);
});

it("a worker alone takes from an intake, and from that of several databases in one place for all", async (test) => {
  const workOf = async (role: Role, residence: Residence | null): Promise<number> => {
    const INTAKE_URL = `nats://127.0.0.1:${await freePort()}`;
    const { parts, close } = await partsOf([role], { INTAKE_URL }, residence);
    test.after(close);
    return parts.background.length;
  };
  assert.equal((await workOf("worker", null)) - (await workOf("worker", ELSEWHERE)), 1);
  assert.equal(await workOf("api", null), await workOf("api", ELSEWHERE));
});

it("what was counted of calls is written as they close, and no connection is left", async (test) => {
  const database = await createTestDatabase();
  test.after(() => database.drop());
  const { parts, close } = await partsOf(["api"], { DATABASE_URL: database.url });
  const connected = async () =>
    (
      await database.pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
          AND application_name <> 'postern test'`,
      )
    ).rowCount;
  parts.pull.waits.watch("a key");
  await eventually(async () => (await connected()) === 1);
  parts.auditTally.failedAuthentication({ address: "192.0.2.1", requestId: randomUUID() });
  await close();
  const { rows } = await database.pool.query("SELECT action FROM postern.audit_log");
  assert.deepEqual(rows, [{ action: "authentication.failed" }]);
  await eventually(async () => (await connected()) === 0);
});
