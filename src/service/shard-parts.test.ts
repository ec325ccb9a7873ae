import assert from "node:assert/strict";
import { it } from "node:test";
import { Pool } from "pg";
import { eventually } from "../../test/support/eventually.ts";
import { freePort } from "../../test/support/free-port.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { joinedShards } from "../../test/support/joined-shards.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { NO_REQUEST, POSTERN } from "../audit/audit-entry.ts";
import { makeSecrets, readConfig, type Environment } from "../config.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { together } from "../shared/ending.ts";
import { makeProcessParts } from "./process-parts.ts";
import type { Role, ServiceOptions } from "./service-options.ts";
import { makeShardedParts } from "./shard-parts.ts";

const of = joinedShards(["eu1", "eu2"]);

/** Of a process of this role on the shards of these URLs, not started. */
async function partsOn(
  urls: readonly string[],
  role: Role,
  more: Partial<ServiceOptions> & { env?: Environment } = {},
) {
  const { log, lines } = makeKeptLog();
  const [databaseUrl = ""] = urls;
  const shards = urls.map((url, place) => ({ name: `eu${place + 1}`, url, weight: 1 }));
  const options = {
    config: readConfig({
      ...makeSecrets(),
      DATABASE_URL: databaseUrl,
      DATA_DIR: temporaryPath("data"),
      ...more.env,
    }),
    catalog: await openCatalog(undefined),
    databaseUrl,
    migrations: [],
    roles: new Set([role]),
    log,
    ...more,
  };
  const process = await makeProcessParts(options);
  return { process, parts: await makeShardedParts(options, process, shards), shards, lines };
}

it("a process on several databases notices each that does not answer, and a changed catalog", async (test) => {
  const url = `postgres://127.0.0.1:${await freePort()}/postern`;
  const { process, parts, shards, lines } = await partsOn([`${url}_eu1`, `${url}_eu2`], "api");
  assert.ok(parts.background.includes(process.catalogWatch));
  test.after(async () => {
    await together(parts.background, (part) => part.stop());
    await parts.close();
  });
  for (const part of parts.background) part.start();
  await eventually(async () =>
    shards.every(({ name }) => lines.some((line) => line["level"] === 50 && line["shard"] === name)),
  );
});

it("a process on several databases ends what they share behind them, and last the connections that it looks by", async (test) => {
  const { process, parts } = await partsOn([of("eu1").url, of("eu2").url], "api");
  const order: string[] = [];
  for (const name of ["stopSending", "close"] as const) {
    const end = process[name];
    test.mock.method(process, name, () => {
      order.push(name);
      return end();
    });
  }
  const end = Reflect.get(Pool.prototype, "end");
  test.mock.method(Pool.prototype, "end", function (this: Pool) {
    order.push(Object(this).options.application_name === "postern directory" ? "directory" : "shard");
    return Reflect.apply(end, this, []);
  });
  await parts.close();
  const shards = Array<string>(8).fill("shard");
  assert.deepEqual(order, ["stopSending", ...shards, "close", "directory", "directory"]);
});

it("a worker alone hands over, from each shard, and takes from the intake, once for all; nothing begins before its shard is joined", async (test) => {
  const never = new Promise<void>(() => undefined);
  const absentShards = new Map(["eu1", "eu2"].map((name) => [name, never]));
  const INTAKE_URL = `nats://127.0.0.1:${await freePort()}`;
  const workOf = async (role: Role, env: Environment): Promise<number> => {
    const { parts } = await partsOn([of("eu1").url, of("eu2").url], role, { absentShards, env });
    test.after(() => parts.close());
    return parts.background.length;
  };
  // Its catalog, and of each shard whether it answers, and what waits until it is joined.
  assert.deepEqual([await workOf("api", {}), await workOf("api", { INTAKE_URL })], [5, 5]);
  assert.deepEqual([await workOf("worker", {}), await workOf("worker", { INTAKE_URL })], [7, 8]);
});

it("of a shard that is not joined yet a worker asks no more than whether it answers", async (test) => {
  const never = new Promise<void>(() => undefined);
  const absentShards = new Map(["eu1", "eu2"].map((name) => [name, never]));
  const { parts } = await partsOn([of("eu1").url, of("eu2").url], "worker", { absentShards });
  test.after(async () => {
    await together(parts.background, (part) => part.stop());
    await parts.close();
  });
  const asked = new Set<unknown>();
  const connect = Reflect.get(Pool.prototype, "connect");
  test.mock.method(Pool.prototype, "connect", function (this: Pool, ...given: unknown[]) {
    asked.add(Object(this).options.application_name);
    return Reflect.apply(connect, this, given);
  });
  // What is done again and again asks for the first time as it starts.
  for (const part of parts.background) part.start();
  assert.deepEqual(asked, new Set(["postern directory"]));
});

it("what was counted of a tenant that has moved since is written where it lives before that shard is closed", async () => {
  const acme = tenant("acme");
  const { parts, lines } = await partsOn([of("eu1").url, of("eu2").url], "api");
  await of("eu1").pool.query("INSERT INTO postern.shard_directory (tenant_id, shard) VALUES ($1, 'eu2')", [
    acme,
  ]);
  const caller = { tenantId: acme, ...NO_REQUEST, actor: POSTERN, subject: "ada", permissions: [] };
  await assert.rejects(parts.apiServices.tenants.get(acme), { code: "not_found" });
  parts.apiServices.auditTally.accessRefused({ caller, route: "GET /api/endpoints", status: 403 });
  await of("eu1").pool.query("UPDATE postern.shard_directory SET shard = 'eu1', version = 2");
  await of("eu1").pool.query("INSERT INTO postern.shard_tenants (tenant_id, version) VALUES ($1, 2)", [acme]);
  await of("eu2").pool.query("UPDATE postern.shard_tenants SET fenced = true");
  await parts.close();
  const { rows } = await of("eu1").pool.query("SELECT action FROM postern.audit_log");
  assert.deepEqual(rows, [{ action: "access.refused" }]);
  assert.deepEqual(lines, []);
});
