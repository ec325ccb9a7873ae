/** What of the API's parts is put together here, without a database. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { Pool } from "pg";
import { freePort } from "../../test/support/free-port.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { makeSecrets, readConfig, type Environment } from "../config.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeParts } from "./parts.ts";
import type { ServiceOptions } from "./service-options.ts";

const UNUSED = "postgres://unused";
const SEVERAL = { SHARDS: `eu1=${UNUSED}/eu1|eu2=${UNUSED}/eu2` };

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

async function partsOf(
  env: Environment,
  options: Pick<ServiceOptions, "roles" | "log"> & { databaseUrl?: string },
) {
  return makeParts({
    databaseUrl: UNUSED,
    ...options,
    config: readConfig({ DATA_DIR: temporaryPath("data"), ...env }),
    catalog: await openCatalog(undefined),
    migrations: [],
  });
}

/** What the log has of a caller's token, as nobody answers under `SESSION_JWKS_URL`. */
async function toldOf(env: Environment) {
  const { log, lines } = makeKeptLog();
  const { SESSION_JWT_SECRET: _, ...secrets } = makeSecrets();
  const SESSION_JWKS_URL = `http://127.0.0.1:${await freePort()}/keys`;
  const session = { SESSION_JWKS_URL, SESSION_ISSUER: "app", SESSION_AUDIENCE: "postern" };
  const roles = new Set(["api"] as const);
  const parts = await partsOf({ ...secrets, ...session, ...env }, { roles, log });
  const token = `${encode({ alg: "ES256", kid: "1" })}.${encode({ exp: 1 })}.AAAA`;
  await assert.rejects(
    parts.apiServices.sessions.verify(`Bearer ${token}`),
    (error) => error instanceof Refusal && error.code === "unavailable",
  );
  await parts.close();
  return lines;
}

it("a key set that can't be read is logged, with one database and with several", async () => {
  for (const env of [{}, SEVERAL]) {
    const [line, ...others] = await toldOf(env);
    assert.match(String(line?.["err"]), /^fetch failed: connect ECONNREFUSED /);
    assert.deepEqual(others, []);
  }
});

const isOfIntake = (line: string) => line.startsWith("the intake's stream does not answer");

it("an intake that does not answer keeps an API from being ready, and no worker", async (test) => {
  const { log } = makeKeptLog();
  const INTAKE_URL = `nats://127.0.0.1:${await freePort()}`;
  for (const role of ["api", "worker"] as const) {
    const parts = await partsOf({ ...makeSecrets(), INTAKE_URL }, { roles: new Set([role]), log });
    test.after(() => parts.close());
    const { reasons, warnings } = await parts.apiServices.readiness.report();
    assert.deepEqual(
      [reasons.some(isOfIntake), warnings.some(isOfIntake)],
      [role === "api", role === "worker"],
    );
  }
});

it("standbys are measured where several hosts are named, though none is demanded", async (test) => {
  const { log } = makeKeptLog();
  const asked: unknown[] = [];
  test.mock.method(Pool.prototype, "query", async (given: unknown) => {
    asked.push(given);
    throw new Error("nobody answers");
  });
  const measures = async (databaseUrl: string): Promise<boolean> => {
    asked.length = 0;
    const parts = await partsOf(makeSecrets(), { roles: new Set(["worker"]), log, databaseUrl });
    test.after(() => parts.close());
    await parts.apiServices.readiness.refreshGauges();
    assert.ok(asked.length > 0);
    return asked.some((given) => JSON.stringify(given).includes("pg_stat_replication"));
  };
  assert.deepEqual(
    [await measures("postgres://one.invalid/p"), await measures("postgres://one.invalid,two.invalid/p")],
    [false, true],
  );
});
