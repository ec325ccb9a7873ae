/** What of the outside reaches a worker: here one that notes it. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { eventually } from "../../test/support/eventually.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { makeSecrets, readConfig } from "../config.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { SLOTS_CHANGED, WAKE_CHANNEL } from "../queue/channels.ts";
import { newEndpointId, newEventId } from "../shared/id.ts";
import { SecretBoxError } from "../shared/secret-box.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { makeApiServices } from "./api-parts.ts";
import { makeDatabaseParts } from "./database-parts.ts";
import { makeFoundation, type Foundation } from "./foundation.ts";
import { makeProcessParts, type ProcessParts } from "./process-parts.ts";
import type { ServiceOptions } from "./service-options.ts";
import { workerBackground } from "./worker-parts.ts";

let database: TestDatabase;
let options: ServiceOptions;
let process: ProcessParts;
let foundation: Foundation;
before(async () => {
  database = await createTestDatabase();
  const databaseUrl = database.url;
  options = {
    config: readConfig({ ...makeSecrets(), DATABASE_URL: databaseUrl }),
    catalog: await openCatalog(undefined),
    databaseUrl,
    migrations: [],
    roles: new Set(["worker"]),
    log: makeLog("silent"),
  };
  process = await makeProcessParts(options);
  const { metrics } = process;
  const place = { databaseUrl, metrics, residence: null, eraseElsewhere: null };
  foundation = await makeFoundation(options, process, place);
});
after(async () => {
  await foundation.pools.close();
  await process.close();
  await database.drop();
});

const notify = (payload: string) => database.pool.query("SELECT pg_notify($1, $2)", [WAKE_CHANNEL, payload]);

it("a worker is told of what is due, of slots and of what was superseded, while its presence is there", async () => {
  const told: unknown[][] = [];
  const note =
    (name: string) =>
    async (...given: unknown[]) =>
      void told.push([name, ...given]);
  const noting = (name: string, names: readonly string[]) =>
    Object(Object.fromEntries(names.map((each) => [each, note(`${name}.${each}`)])));
  const worker = noting("worker", ["start", "stop", "wake", "slotsChanged", "withdraw"]);
  const presence = noting("presence", ["start", "stop"]);
  const [listener, both] = workerBackground(options, foundation, { worker, presence });
  assert.ok(listener !== undefined && both !== undefined);
  both.start();
  assert.deepEqual(told.splice(0), [["presence.start"], ["worker.start"]]);

  listener.start();
  const heard = (expected: unknown[]) =>
    eventually(async () => told.some((one) => isDeepStrictEqual(one, expected)));
  // What may have been missed before it listened.
  await heard(["worker.wake", undefined]);
  await notify("slots 3");
  await heard(["worker.wake", 3]);
  await notify(SLOTS_CHANGED);
  await heard(["worker.slotsChanged"]);
  const [eventId, endpointId] = [newEventId(), newEndpointId()];
  await notify(`${endpointId} ${eventId}`);
  await heard(["worker.withdraw", { eventId, endpointId }]);
  await listener.stop();

  told.length = 0;
  await both.stop();
  assert.deepEqual(told, [["worker.stop"], ["presence.stop"]]);
});

it("an intake is relayed to a database by its own parts where it is the only one, and what they count is stored at their end", async () => {
  let relays = 0;
  const idle = { start: () => undefined, stop: async () => undefined };
  const makeRelay = () => {
    relays++;
    return idle;
  };
  const intake = Object({ makeRelay, makeDurable: () => idle });
  for (const residence of [null, { versionOf: () => null }]) {
    const { databaseUrl } = options;
    const place = { databaseUrl, metrics: makeMetrics(), residence, eraseElsewhere: null };
    const parts = await makeDatabaseParts(options, { ...process, intake }, place);
    parts.auditTally.failedAuthentication({ address: "192.0.2.1", requestId: randomUUID() });
    await parts.close();
    assert.equal(relays, 1);
  }
  const counted = { action: "authentication.failed" };
  const { rows } = await database.pool.query("SELECT action FROM postern.audit_log");
  assert.deepEqual(rows, [counted, counted]);
});

it("a secret that does not open is counted by its reason", async () => {
  assert.throws(() => foundation.secretBox.open(Buffer.from("x"), ["endpoint", "1"]), SecretBoxError);
  const { values } = await process.metrics.unusableSecrets.get();
  assert.deepEqual(
    values.filter(({ value }) => value > 0).map(({ labels }) => labels),
    [{ reason: "form" }],
  );
});

it("standbys are measured where the database has several hosts", async () => {
  const url = new URL(options.databaseUrl);
  const several = url.href.replace(url.host, `${url.host},${url.hostname}:1`);
  for (const [databaseUrl, isMeasured] of [
    [options.databaseUrl, false],
    [several, true],
  ] as const) {
    const asked: string[] = [];
    const query = async (statement: string | { text: string }) => {
      asked.push(typeof statement === "string" ? statement : statement.text);
      return { rows: [], rowCount: 0 };
    };
    const pools = { ...foundation.pools, status: Object({ query }) };
    const { readiness } = makeApiServices(options, { ...foundation, databaseUrl, pools });
    await readiness.refreshGauges();
    assert.equal(
      asked.some((text) => text.includes("pg_stat_replication")),
      isMeasured,
    );
  }
});

it("a process watches which of several hosts is the primary, also where it is an API alone", async () => {
  const url = new URL(options.databaseUrl);
  const databaseUrl = url.href.replace(url.host, `${url.host},${url.hostname}:2`);
  const told: unknown[] = [];
  const log = Object.assign(makeLog("silent"), { info: (...words: unknown[]) => told.push(words.at(-1)) });
  const place = { databaseUrl, metrics: makeMetrics(), residence: null, eraseElsewhere: null };
  const roles = new Set(["api"] as const);
  const parts = await makeDatabaseParts({ ...options, roles, log }, process, place);
  for (const part of parts.background) part.start();
  const primary = `The database's primary is ${url.host}, on timeline 1`;
  await eventually(async () => told.includes(primary));
  await Promise.all(parts.background.map((part) => part.stop()));
  await parts.close();
});
