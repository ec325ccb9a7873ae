/** Notes of watched logs: one tenant's trouble is no other's, and a tenant that has moved is told. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { eventually } from "../../test/support/eventually.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { SteeredTenants, type Statement } from "../../test/support/steered-tenants.ts";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { pause } from "../shared/every.ts";
import type { TenantId } from "../shared/id.ts";
import type { Log } from "../telemetry/log.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { LogTail } from "./tail.ts";

const [moved, other] = [tenant("acme"), tenant("globex")];
const ALL = { endpointId: null, status: null };

let database: TestDatabase;
let tenants: SteeredTenants;
before(async () => {
  database = await createTestDatabase();
  tenants = new SteeredTenants(openTenantPool(database, 2));
});
after(async () => {
  await tenants.end();
  await database.drop();
});

const NOTE_EVERY_MS = 10_000;
/** As always, but for the time between two notes. */
const noteOften: typeof pause = (ms, signal) => pause(ms === NOTE_EVERY_MS ? 10 : ms, signal);

const makeTail = (log: Log, wait = pause) =>
  new LogTail({ tenants, databaseUrl: database.url, log, metrics: makeMetrics(), wait });

/** Both logs are watched, the first tenant's notes fail, and the other's is made again. Answers whose streams were ended, and the log. */
async function watchBoth(error: Error) {
  tenants.reset();
  const kept = makeKeptLog();
  const tail = makeTail(kept.log, noteOften);
  const ended: TenantId[] = [];
  const watch = async (of: TenantId) => {
    const end = await tail.watch(of, ALL, {
      hasRoom: () => true,
      send: () => undefined,
      skip: () => undefined,
      end() {
        ended.push(of);
        end();
      },
    });
  };
  try {
    for (const one of [moved, moved, other]) await watch(one);
    let failures = 0;
    tenants.before = ({ tenantId }) => {
      if (tenantId !== moved) return undefined;
      failures++;
      return Promise.reject(error);
    };
    await eventually(async () => failures > 0);
    await database.pool.query("DELETE FROM postern.log_watches");
    const noted = () => database.pool.query("SELECT FROM postern.log_watches WHERE tenant_id = $1", [other]);
    await eventually(async () => (await noted()).rowCount === 1);
  } finally {
    await tail.close();
  }
  return { ended, lines: kept.lines };
}

it("a note that fails is told, and every other is made", async () => {
  const { ended, lines } = await watchBoth(new Error("locked"));
  assert.deepEqual(ended, []);
  assert.deepEqual(lines[0], { level: 40, err: "locked", times: 1 });
});

it("the streams of a tenant that moved to another database end, without a word in the log, and no other's", async () => {
  const { ended, lines } = await watchBoth(Object.assign(new Error("moved"), { code: "PS001" }));
  assert.deepEqual(ended, [moved, moved]);
  assert.deepEqual(lines, []);
});

const nothing = () => undefined;
const isNote = ({ values }: Statement) => values.length === 3;

it("a watcher that comes while the last one's note is taken back waits for that, and is noted", async () => {
  tenants.reset();
  // The first round of notes, which begins with the first watcher, may come to this one too.
  const round = Promise.withResolvers<void>();
  const tail = makeTail(makeKeptLog().log, (ms, signal) => {
    if (ms === NOTE_EVERY_MS) round.resolve();
    return pause(ms, signal);
  });
  const sink = { hasRoom: () => true, send: nothing, skip: nothing, end: nothing };
  try {
    await tail.watch(other, ALL, sink);
    const end = await tail.watch(moved, ALL, sink);
    await round.promise;
    const taken = Promise.withResolvers<void>();
    tenants.before = (statement) => (isNote(statement) ? undefined : taken.promise);
    tenants.statements = [];
    end();
    const again = tail.watch(moved, ALL, sink);
    await setImmediate();
    const notes = tenants.statements.filter((one) => isNote(one) && one.tenantId === moved);
    assert.equal(notes.length, 0);
    taken.resolve();
    await again;
    const noted = await database.pool.query("SELECT FROM postern.log_watches WHERE tenant_id = $1", [moved]);
    assert.equal(noted.rowCount, 1);
  } finally {
    await tail.close();
  }
});
