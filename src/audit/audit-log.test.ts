import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, beforeEach, describe, it, mock } from "node:test";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { newEndpointId, type TenantId } from "../shared/id.ts";
import { makeLog, type Log } from "../telemetry/log.ts";
import type { Caller, NewAuditEntry } from "./audit-entry.ts";
import { makeAuditTally, type ShardAuditTally } from "./audit-tally.ts";
import { insertAuditEntries } from "./audit-store.ts";
import { makeUrlRefusals } from "./url-refusals.ts";

const [acme, globex] = [tenant("acme"), tenant("globex")];
const ADDRESS = "203.0.113.7";

let database: TestDatabase;
let warned: object[];
let tally: ShardAuditTally;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query("DELETE FROM postern.audit_log; DELETE FROM postern.shard_tenants");
  warned = [];
  tally = makeAuditTally({ db: database.pool, log: logTo(warned) });
});
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});
after(() => database.drop());

/** The fields of its warnings, less the error of each. */
function logTo(list: object[]): Log {
  const log = makeLog("silent");
  log.warn = ({ err, ...fields }: { err?: unknown }) => {
    assert.ok(err instanceof Error);
    list.push(fields);
  };
  return log;
}

function callerOf(tenantId: TenantId, sub: string | null): Caller {
  return { tenantId, actor: { type: "user", sub }, requestId: randomUUID(), address: ADDRESS };
}

function refuse(tenantId: TenantId, sub: string): void {
  tally.accessRefused({ caller: callerOf(tenantId, sub), route: "GET /api/audit", status: 403 });
}

/** How often in the log, by one member of its entries. */
async function logged(member: string): Promise<unknown[][]> {
  const { rows } = await database.pool.query<unknown[]>({
    text: `SELECT ${member}, details -> 'count' FROM postern.audit_log ORDER BY 1`,
    rowMode: "array",
  });
  return rows;
}

const blocked = (tenantId = acme) => ({ tenantId, endpointId: newEndpointId(), url: "https://example.com/" });

async function whileAway(work: () => Promise<unknown>): Promise<void> {
  await database.pool.query("ALTER TABLE postern.audit_log RENAME TO away");
  await work();
  await database.pool.query("ALTER TABLE postern.away RENAME TO audit_log");
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, number) => `${number}`);

describe("what is counted", () => {
  it("is told to each tenant apart, whoever shares the address, the route and the subject", async () => {
    for (const tenantId of [acme, globex, globex]) {
      tally.limitReached({ limit: "writes", tenantId, address: ADDRESS, requestId: randomUUID() });
      refuse(tenantId, "jo");
    }
    await tally.close();
    assert.deepEqual(await logged("action || ' ' || tenant_id"), [
      ["access.refused acme", 1],
      ["access.refused globex", 2],
      ["limit.reached acme", 1],
      ["limit.reached globex", 2],
    ]);
  });

  it("names fifty callers of a tenant and a hundred addresses, and as many again once it is written", async () => {
    const requestId = randomUUID();
    for (const round of ["first", "second"]) {
      for (const caller of numbered(52)) refuse(acme, `${round}-${caller}`);
      refuse(acme, `${round}-7`);
      for (const host of numbered(102))
        tally.failedAuthentication({ address: `${round}-${host}`, requestId });
      tally.failedAuthentication({ address: `${round}-7`, requestId });
      await tally.close();
    }
    const found = await logged("coalesce(actor_sub, address)");
    const several = found.filter(([, count]) => count !== 1);
    assert.deepEqual(
      [found.length, several],
      [
        2 * (51 + 101),
        ["first-7", "first-7", "second-7", "second-7", null, null, null, null].map((name) => [name, 2]),
      ],
    );
  });
});

describe("a caller who is refused again and again", () => {
  it("takes no other's name", async () => {
    for (const _ of numbered(60)) refuse(acme, "jo");
    refuse(acme, "al");
    await tally.close();
    assert.deepEqual(await logged("actor_sub"), [
      ["al", 1],
      ["jo", 60],
    ]);
  });
});

describe("a limit", () => {
  it("on an address is told for a hundred addresses of each limit, and one entry for all beyond", async () => {
    const requestId = randomUUID();
    for (const address of numbered(101)) {
      tally.limitReached({ limit: "authentications", tenantId: null, address, requestId });
    }
    tally.limitReached({ limit: "authentications", tenantId: null, address: "7", requestId });
    await tally.close();
    const found = await logged("concat(details ->> 'limit', ' of ', address)");
    assert.deepEqual(
      [found.length, found.filter(([name, count]) => name === "authentications of " || count !== 1)],
      [
        101,
        [
          ["authentications of ", 1],
          ["authentications of 7", 2],
        ],
      ],
    );
  });

  it("on a tenant is told with the address of its first caller, of however many tenants", async () => {
    const requestId = randomUUID();
    const tenants = numbered(102).map((number) => tenant(`t${number}`));
    for (const tenantId of tenants)
      tally.limitReached({ limit: "writes", tenantId, address: ADDRESS, requestId });
    tally.limitReached({ limit: "dispatches", tenantId: acme, address: ADDRESS, requestId });
    tally.limitReached({ limit: "writes", tenantId: acme, address: "203.0.113.8", requestId });
    tally.limitReached({ limit: "writes", tenantId: acme, address: ADDRESS, requestId });
    await tally.close();
    const { rows } = await database.pool.query(
      `SELECT tenant_id, address, actor_type, outcome, request_id, details ->> 'limit' AS limit, details -> 'count' AS count
        FROM postern.audit_log WHERE tenant_id = $1 OR address IS DISTINCT FROM $2 ORDER BY id`,
      [acme, ADDRESS],
    );
    const entry = { tenant_id: acme, actor_type: "unknown", outcome: "refused", request_id: requestId };
    assert.deepEqual(rows, [
      { ...entry, address: ADDRESS, limit: "dispatches", count: 1 },
      { ...entry, address: "203.0.113.8", limit: "writes", count: 2 },
    ]);
    assert.equal((await logged("action")).length, 104);
  });
});

/** What is to run in a minute, in the order in which it was planned. */
function planned() {
  const timers = mock.method(globalThis, "setTimeout").mock;
  return () =>
    timers.calls.map(({ arguments: [run, ms] }) => ({ run, ms })).filter(({ ms }) => ms === 60_000);
}

const isLogged = (count: number) => eventually(async () => (await logged("action")).length === count || null);

describe("the tally", () => {
  it("is written a minute after the first entry, and again a minute after the next", async () => {
    const inAMinute = planned();
    for (const round of [1, 2]) {
      refuse(acme, `${round}`);
      tally.blockedTarget(blocked());
      refuse(acme, `again ${round}`);
      assert.equal(inAMinute().length, round);
      inAMinute().at(-1)?.run();
      await isLogged(3 * round);
    }
  });

  it("is written by a blocked target alone, and tried again a minute after the database refused it", async () => {
    const inAMinute = planned();
    const isWarned = Promise.withResolvers<void>();
    const log = logTo(warned);
    const { warn } = log;
    log.warn = (...told: [object]) => {
      warn(...told);
      isWarned.resolve();
    };
    const own = makeAuditTally({ db: database.pool, log });
    own.blockedTarget(blocked());
    await whileAway(() => {
      inAMinute()[0]?.run();
      return isWarned.promise;
    });
    inAMinute()[1]?.run();
    await isLogged(1);
    assert.equal(inAMinute().length, 2);
    assert.deepEqual(warned, [{ entries: 1, lost: 0 }]);
  });

  it("says of what was counted how often, when first and when last", async () => {
    mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 0, 31) });
    for (const _ of numbered(3)) {
      refuse(acme, "jo");
      mock.timers.tick(1000);
    }
    mock.timers.reset();
    await tally.close();
    const { rows } = await database.pool.query("SELECT details FROM postern.audit_log");
    const times = { first_at: "2026-01-31T00:00:00.000Z", last_at: "2026-01-31T00:00:02.000Z" };
    assert.deepEqual(rows, [{ details: { route: "GET /api/audit", status: 403, count: 3, ...times } }]);
  });
});

describe("a blocked target", () => {
  it("is told once for each endpoint, without what its URL hides", async () => {
    const [one, other] = [newEndpointId(), newEndpointId()];
    for (const endpointId of [one, other, one]) {
      tally.blockedTarget({ tenantId: acme, endpointId, url: "https://me:word@hooks.example.com/a?token=1" });
    }
    await tally.close();
    const { rows } = await database.pool.query(
      "SELECT tenant_id, endpoint_id, actor_type, action, outcome, details FROM postern.audit_log ORDER BY id",
    );
    const entry = {
      tenant_id: acme,
      actor_type: "postern",
      action: "url.refused",
      outcome: "refused",
      details: { operation: "attempt", url: "https://…@hooks.example.com/a?…" },
    };
    assert.deepEqual(rows, [
      { ...entry, endpoint_id: one },
      { ...entry, endpoint_id: other },
    ]);
  });

  it("is told again once an hour has passed", async () => {
    const now = performance.now.bind(performance);
    const again = blocked();
    const told = async (): Promise<number> => {
      tally.blockedTarget(again);
      await tally.close();
      return (await logged("action")).length;
    };
    assert.equal(await told(), 1);
    mock.method(performance, "now", () => now() + 3_540_000);
    assert.equal(await told(), 1);
    mock.method(performance, "now", () => now() + 3_600_000);
    await eventually(async () => (await told()) === 2);
  });
});

describe("entries that the database refuses", () => {
  it("are written later, two thousand of them, and the log says how many are lost", async () => {
    for (const _ of numbered(2001)) tally.blockedTarget(blocked());
    await whileAway(() => tally.close());
    assert.deepEqual(await logged("action"), []);
    await tally.close();
    assert.equal((await logged("action")).length, 2000);
    await tally.close();
    assert.equal((await logged("action")).length, 2000);
    assert.deepEqual(warned, [{ entries: 2001, lost: 1 }]);
  });

  it("are written later with what came while they were being refused", async () => {
    const isRefused = async (statement: string, values: unknown[]) => {
      try {
        return await database.pool.query(statement, values);
      } catch (error) {
        slow.blockedTarget(blocked());
        throw error;
      }
    };
    const db: typeof database.pool = Object.create(database.pool, { query: { value: isRefused } });
    const slow = makeAuditTally({ db, log: logTo(warned) });
    slow.blockedTarget(blocked());
    await whileAway(() => slow.close());
    await slow.close();
    assert.equal((await logged("action")).length, 2);
    assert.deepEqual(warned, [{ entries: 1, lost: 0 }]);
  });

  it("are lost of the tenant that has most of them, and of no other", async () => {
    for (const _ of numbered(2001)) tally.blockedTarget(blocked());
    tally.blockedTarget(blocked(globex));
    tally.failedAuthentication({ address: ADDRESS, requestId: randomUUID() });
    await whileAway(() => tally.close());
    await tally.close();
    const { rows } = await database.pool.query(
      "SELECT tenant_id AS of, count(*)::int AS count FROM postern.audit_log GROUP BY 1 ORDER BY 1",
    );
    assert.deepEqual(rows, [
      { of: acme, count: 1998 },
      { of: globex, count: 1 },
      { of: null, count: 1 },
    ]);
    assert.deepEqual(warned, [{ entries: 2003, lost: 3 }]);
  });

  it("go to the tenant's new home where it has moved, and are lost where that is unknown or away", async () => {
    await database.pool.query(
      "INSERT INTO postern.shard_tenants (tenant_id, version, fenced) VALUES ($1, 1, true), ($2, 1, false)",
      [acme, globex],
    );
    refuse(acme, "jo");
    await tally.close();
    assert.deepEqual([await logged("tenant_id"), warned], [[], []]);
    const passed: [TenantId, readonly NewAuditEntry[]][] = [];
    tally.onMoved(async (tenantId, entries) => void passed.push([tenantId, entries]));
    for (const tenantId of [acme, globex]) refuse(tenantId, "jo");
    tally.failedAuthentication({ address: ADDRESS, requestId: randomUUID() });
    await tally.close();
    assert.deepEqual(await logged("tenant_id"), [
      ["globex", 1],
      [null, 1],
    ]);
    assert.deepEqual(
      passed.map(([tenantId, entries]) => [tenantId, entries.map(({ actor }) => actor.sub)]),
      [[acme, ["jo"]]],
    );
    assert.deepEqual(warned, []);
    tally.onMoved(() => Promise.reject(new Error("its home is away")));
    refuse(acme, "jo");
    await tally.close();
    assert.deepEqual(warned, [{ tenantId: acme, lost: 1 }]);
  });
});

describe("entries that another database passes on", () => {
  it("are written where the tenant lives, and refused where it has moved again", async () => {
    const entry: NewAuditEntry = {
      ...callerOf(acme, "jo"),
      action: "access.refused",
      endpointId: null,
      outcome: "refused",
      details: { count: 4 },
    };
    await tally.write([entry]);
    assert.deepEqual(await logged("tenant_id"), [["acme", 4]]);
    await database.pool.query(
      "INSERT INTO postern.shard_tenants (tenant_id, version, fenced) VALUES ($1, 1, true)",
      [acme],
    );
    await assert.rejects(tally.write([entry]), { message: "the tenant has moved again" });
    assert.equal((await logged("tenant_id")).length, 1);
  });
});

describe("a refused URL", () => {
  const refused = {
    endpointId: null,
    operation: "create",
    url: "http://me:word@127.0.0.1/",
    rule: "not_https",
  } as const;

  it("is told with the rule that it broke, and refused all the same where the log cannot be written", async () => {
    const tenants = openTenantPool(database, 1);
    try {
      const refusals = makeUrlRefusals({ tenants, log: logTo(warned) });
      const caller = callerOf(acme, "jo");
      await refusals.refused(caller, refused);
      const { rows } = await database.pool.query(
        "SELECT actor_sub, action, outcome, details FROM postern.audit_log",
      );
      const details = { operation: "create", url: "http://…@127.0.0.1/", rule: "not_https" };
      assert.deepEqual(rows, [{ actor_sub: "jo", action: "url.refused", outcome: "refused", details }]);
      await whileAway(() => refusals.refused(caller, refused));
      assert.deepEqual(warned, [{ tenantId: acme, requestId: caller.requestId }]);
    } finally {
      await tenants.end();
    }
  });
});

describe("an entry's texts", () => {
  it("are kept as far as PostgreSQL takes them, and 2,048 units of each", async () => {
    const long = `${"x".repeat(2047)}😀`;
    await insertAuditEntries(database.pool, [
      {
        ...callerOf(acme, long),
        action: "endpoint.updated",
        endpointId: null,
        outcome: "done",
        details: { fields: ["a\u0000b", long] },
      },
    ]);
    const { rows } = await database.pool.query("SELECT actor_sub, details FROM postern.audit_log");
    const kept = `${"x".repeat(2047)}\uFFFD`;
    assert.deepEqual(rows, [{ actor_sub: kept, details: { fields: ["a\uFFFDb", kept] } }]);
  });
});
