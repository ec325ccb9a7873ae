/** What /ready says of each part of a process; test/readiness.test.ts shows it of the running program. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { readMigrations, type Migration } from "../database/schema/migration-files.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeReadiness } from "./readiness.ts";

type Services = Parameters<typeof makeReadiness>[0];
type Worker = NonNullable<ReturnType<Services["worker"]>>;

const STALLED = "the worker has claimed nothing for half a minute: see its log, and restart it";
const NO_ROOM =
  "this worker has no room: some receivers are slow, so add workers if other tenants' events wait";

let database: TestDatabase;
let migrations: Migration[];
before(async () => {
  database = await createTestDatabase();
  migrations = await readMigrations(join(import.meta.dirname, "../../migrations"));
});
after(() => database.drop());

/** Of a process in which all is well but for what is given. */
function ready(given: Partial<Services> = {}) {
  return makeReadiness({
    db: database.pool,
    embeddedTrouble: () => null,
    migrations,
    queueMonitor: { look: async () => ({ reasons: [], warnings: [] }) },
    heartbeat: { beat: async () => undefined },
    commits: { failure: () => null },
    replication: { trouble: async () => null, look: async () => undefined },
    storage: { look: async () => [] },
    worker: () => null,
    intake: null,
    catalog: { isRefused: () => false },
    log: makeLog("silent"),
    ...given,
  });
}

const worker = (state: Partial<Worker>): Partial<Services> => ({
  worker: () => ({
    lastLookAt: () => null,
    hasRoom: () => true,
    refusedOutcomes: () => 0,
    unusableSecrets: () => 0,
    ...state,
  }),
});

const away = Object.assign(new Error("away"), { code: "ECONNREFUSED" });
const fails = async (error: unknown): Promise<never> => {
  throw error;
};

describe("the report of a process", () => {
  it("is without reasons and warnings where all is well", async () => {
    for (const given of [{}, worker({}), worker({ lastLookAt: () => performance.now() - 29_000 })])
      assert.deepEqual(await ready(given).report(), { reasons: [], warnings: [] });
  });

  it("has the queue's reasons and warnings, what storage waits for, and how the clock is wrong", async () => {
    const queueMonitor = { look: async () => ({ reasons: ["nobody claims"], warnings: ["a backlog"] }) };
    const storage = { look: async () => ["an artifact waits"] };
    const heartbeat = { beat: async () => "the clock is wrong" };
    assert.deepEqual(await ready({ queueMonitor, storage, heartbeat }).report(), {
      reasons: ["nobody claims"],
      warnings: ["a backlog", "an artifact waits", "the clock is wrong"],
    });
  });

  it("names migrations that are pending, and asks for nothing else", async () => {
    const missing = { version: 9998, file: "9998_a.sql", name: "a", sql: "", sha256: "" };
    const one = [...migrations, missing];
    const more = [...one, { ...missing, version: 9999, file: "9999_b.sql" }];
    const heartbeat = { beat: () => fails(new Error("it is not asked")) };
    assert.deepEqual(await ready({ migrations: one, heartbeat }).report(), {
      reasons: ["migrations are pending: 9998_a.sql"],
      warnings: [],
    });
    const { reasons, warnings } = await ready({ migrations: more, heartbeat }).report();
    assert.deepEqual([reasons, warnings], [["migrations are pending: 9998_a.sql, 9999_b.sql"], []]);
  });

  it("says that commits are unsafe before it commits anything", async () => {
    const replication = { trouble: async () => "no standby", look: async () => undefined };
    const heartbeat = { beat: () => fails(new Error("it is not asked")) };
    assert.deepEqual(await ready({ replication, heartbeat }).report(), {
      reasons: ["no standby"],
      warnings: [],
    });
  });

  it("has one reason for a database that is away, refuses to commit or is full", async () => {
    const unreachable = "the database cannot be reached";
    const full = "the database's disk is full: free space there or enlarge it, and shorten RETENTION_DAYS";
    const left =
      "the embedded database has stopped with the process that started it: start that again, or restart this one, which then runs it";
    const refused = Object.assign(new Error("full"), { code: "53100" });
    for (const [given, reason] of [
      [{ heartbeat: { beat: () => fails(away) } }, unreachable],
      [{ commits: { failure: () => away } }, unreachable],
      [{ commits: { failure: () => refused } }, full],
      [{ heartbeat: { beat: () => fails(away) }, embeddedTrouble: () => "disk_full" as const }, full],
      [{ heartbeat: { beat: () => fails(away) }, embeddedTrouble: () => "left" as const }, left],
    ] as const)
      assert.deepEqual(await ready(given).report(), { reasons: [reason], warnings: [] });
  });

  it("has the same reasons for a database that has not answered after three seconds", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const silent = Promise.withResolvers<never>();
    const asked = Promise.withResolvers<void>();
    for (const [isFull, reason] of [
      [false, /^the database cannot be reached$/],
      [true, /^the database's disk is full: /],
    ] as const) {
      const beat = (): Promise<never> => {
        asked.resolve();
        return silent.promise;
      };
      const reporting = ready({
        heartbeat: { beat },
        embeddedTrouble: () => (isFull ? "disk_full" : null),
      }).report();
      await asked.promise;
      test.mock.timers.tick(3000);
      assert.match((await reporting).reasons.join(), reason);
    }
  });

  it("tells an unknown fault to the log alone", async (test) => {
    const error = new TypeError("a fault of ours");
    const log = makeLog("silent");
    const logged = test.mock.method(log, "error", () => undefined);
    const { reasons } = await ready({ heartbeat: { beat: () => fails(error) }, log }).report();
    assert.deepEqual(reasons, ["the queue's state could not be read: see the log"]);
    const [call] = logged.mock.calls;
    assert.deepEqual<unknown>(call?.arguments, [{ err: error }, "the queue's state could not be read"]);
    assert.equal(logged.mock.callCount(), 1);
  });

  it("names who has a table locked, and that somebody has where nobody is found", async () => {
    const locked = Object.assign(new Error("locked"), { code: "55P03" });
    const given = { heartbeat: { beat: () => fails(locked) } };
    const nobody =
      "another transaction has locked a table of Postern: see pg_locks, and end that transaction";
    assert.deepEqual((await ready(given).report()).reasons, [nobody]);
    const client = await database.pool.connect();
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    await client.query("BEGIN; LOCK TABLE postern.endpoints IN ACCESS EXCLUSIVE MODE");
    const [reason = ""] = (await ready(given).report()).reasons;
    assert.ok(reason.startsWith(`process ${rows[0]?.pid} (`), reason);
    await client.query("ROLLBACK");
    client.release();
  });

  it("says that its worker is stuck, has no room or has refused outcomes, and that its catalog is refused", async () => {
    const stuck = worker({ lastLookAt: () => performance.now() - 31_000 });
    assert.deepEqual(await ready(stuck).report(), { reasons: [STALLED], warnings: [] });
    assert.deepEqual((await ready(worker({ hasRoom: () => false })).report()).warnings, [NO_ROOM]);
    const refused =
      "the database refuses the outcomes of 3 attempts, which are sent again with growing delays: see this worker's log for its error";
    assert.deepEqual((await ready(worker({ refusedOutcomes: () => 3 })).report()).warnings, [refused]);
    const unopened =
      "the signing secrets of 2 endpoints do not open, so nothing is sent there: see this worker's log, which says whether INTEGRATION_ENCRYPTION_KEY lacks a key";
    assert.deepEqual((await ready(worker({ unusableSecrets: () => 2 })).report()).warnings, [unopened]);
    const [one = ""] = (await ready(worker({ unusableSecrets: () => 1 })).report()).warnings;
    assert.match(one, /^the signing secret of 1 endpoint does not open, /);
    const { reasons, warnings } = await ready({ catalog: { isRefused: () => true } }).report();
    assert.deepEqual(reasons, []);
    assert.deepEqual(warnings, [
      "the event catalog's file was changed and is refused, so the former catalog stays in force: see this process's log, or run postern catalog check",
    ]);
    const storage = { look: async () => ["an artifact waits"] };
    const several = ready({ ...worker({ hasRoom: () => false }), storage });
    assert.deepEqual((await several.report()).warnings, ["an artifact waits", NO_ROOM]);
  });
});

function intake(trouble: string | null, takesEvents: boolean) {
  return { intake: { monitor: { look: async () => trouble }, takesEvents } };
}

describe("the report of a process with an intake", () => {
  const beat = { heartbeat: { beat: () => fails(away) } };
  const meanwhile = "the database cannot be reached; events are taken by the intake's stream meanwhile";

  it("is ready without its database while the stream takes events, except for a stuck worker", async () => {
    assert.deepEqual(await ready({ ...intake(null, true), ...beat }).report(), {
      reasons: [],
      warnings: [meanwhile],
    });
    assert.deepEqual(await ready(intake(null, true)).report(), { reasons: [], warnings: [] });
    const stuck = worker({ lastLookAt: () => performance.now() - 31_000 });
    assert.deepEqual((await ready({ ...intake(null, true), ...stuck }).report()).reasons, [STALLED]);
  });

  it("is not ready where the stream has a trouble and the process takes events", async () => {
    const trouble = { reasons: ["no stream"], warnings: [] };
    assert.deepEqual(await ready(intake("no stream", true)).report(), trouble);
    const both = { reasons: ["the database cannot be reached", "no stream"], warnings: [] };
    assert.deepEqual(await ready({ ...intake("no stream", true), ...beat }).report(), both);
  });

  it("has the stream's trouble as a warning where the process takes no events, and needs its database", async () => {
    const warned = { reasons: [], warnings: ["no stream"] };
    assert.deepEqual(await ready(intake("no stream", false)).report(), warned);
    const unready = { reasons: ["the database cannot be reached"], warnings: [] };
    assert.deepEqual(await ready({ ...intake(null, false), ...beat }).report(), unready);
  });
});

describe("the gauges", () => {
  it("are measured by every part, and old ones are kept where the database is away", async () => {
    const looked: string[] = [];
    const look =
      <Found>(name: string, found: Found) =>
      async () => {
        looked.push(name);
        return found;
      };
    await ready({
      queueMonitor: { look: look("queue", { reasons: [], warnings: [] }) },
      storage: { look: look("storage", []) },
      replication: { trouble: async () => null, look: look("replication", undefined) },
      intake: { monitor: { look: look("intake", null) }, takesEvents: true },
    }).refreshGauges();
    assert.deepEqual(looked.sort(), ["intake", "queue", "replication", "storage"]);
    await ready({ storage: { look: () => fails(away) } }).refreshGauges();
  });
});
