import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { after, before, beforeEach, describe, it } from "node:test";
import { pino } from "pino";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { openTestQueue } from "../../test/support/test-queue.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import { codeOf } from "../shared/error-code.ts";
import { makeMetrics, type Metrics } from "../telemetry/metrics.ts";
import { loadCatalog } from "./catalog.ts";
import { writeEvent } from "./new-event.ts";
import { makeCatalogAnnouncer, makeOutbox, type Outbox } from "./outbox.ts";
import { publishOwn } from "./own-events.ts";

const shown = { title: "T", description: "D", group: "G", payloadShape: {} };
const lines = { properties: { lines: { type: "integer" } } };
const acme = tenant("acme");

async function catalogOf(entries: readonly object[]) {
  const file = temporaryPath("outbox.json");
  await writeFile(file, JSON.stringify(entries));
  return loadCatalog(file);
}

const catalog = await catalogOf([
  { ...shown, type: "order.paid", version: 1, schema: lines },
  { ...shown, type: "order.paid", version: 2 },
  { ...shown, type: "order.paid", version: 3, preview: true },
  { ...shown, type: "order.sent" },
  // An operator's own idea of an event that Postern publishes.
  { ...shown, type: "endpoint.disabled", schema: { required: ["more"] } },
]);

let database: TestDatabase;
let metrics: Metrics;
let logged: Record<string, unknown>[];
let traced: unknown[];
before(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query(
    "DELETE FROM postern.events; DELETE FROM postern.outbox; DELETE FROM postern.event_types",
  );
  metrics = makeMetrics();
  logged = [];
  traced = [];
});
after(() => database.drop());

/** On which relays are short, whatever they take. */
const clock = new VirtualClock();

function open(operator: string | null = null): Outbox {
  return makeOutbox({
    queue: openTestQueue(database.pool),
    catalog: { current: () => catalog },
    log: pino({ base: null }, { write: (line) => logged.push(JSON.parse(line)) }),
    metrics,
    tracing: {
      continues: () => undefined,
      accepted: (event) => void traced.push(event),
      attempt: () => assert.fail("a relay attempts nothing"),
      close: async () => undefined,
    },
    clock,
    operatorTenant: operator === null ? null : tenant(operator),
  });
}

type Left = { type: string; data?: unknown; version?: number; versions?: Record<string, unknown> };

/** As `postern.publish` leaves it, of types that the database knows. */
async function leave({ type, data = {}, version = 1, versions }: Left): Promise<string> {
  const { id, body } = writeEvent(type, data);
  const others = Object.entries(versions ?? {}).map(([name, other]) => [name, writeEvent(type, other).body]);
  await database.pool.query(
    "INSERT INTO postern.outbox (id, tenant_id, type, body, version, versions) VALUES ($1, 'acme', $2, $3, $4, $5)",
    [id, type, body, version, versions === undefined ? null : JSON.stringify(Object.fromEntries(others))],
  );
  return id;
}

async function accepted() {
  const { rows } = await database.pool.query<{ id: string; tenant: string; type: string; data: unknown }>(
    "SELECT id, tenant_id AS tenant, type, body::json -> 'data' AS data FROM postern.events ORDER BY tenant_id, id",
  );
  return rows;
}

async function counted(metric: "eventsRejected" | "ownEvents" | "eventsAccepted") {
  const { values } = await metrics[metric].get();
  return values.map(({ labels, value }) => Object.values<unknown>(labels).concat(value));
}

describe("an event in the outbox", () => {
  it("is accepted for its tenant, counted and traced", async () => {
    const id = await leave({ type: "order.sent", data: { a: 1 } });
    assert.equal(await open().relay(), "all");
    assert.deepEqual(await accepted(), [{ id, tenant: "acme", type: "order.sent", data: { a: 1 } }]);
    assert.deepEqual([await counted("eventsAccepted"), await counted("ownEvents")], [[[1]], []]);
    assert.deepEqual([logged, traced], [[], [{ eventId: id, eventType: "order.sent", tenantId: acme }]]);
  });

  it("goes to endpoints of each of its versions", async () => {
    const endpoints = ["order.paid@1", "order.paid", "order.paid@3", "order.sent"];
    for (const pattern of endpoints)
      await database.pool.query(
        `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
          VALUES ('acme', postern.uuid_v7(), 'https://example.com/', ARRAY[$1], '', now(), now())`,
        [pattern],
      );
    const id = await leave({ type: "order.paid", version: 2, data: {}, versions: { "1": {} } });
    await open().relay();
    const { rows } = await database.pool.query(
      `SELECT e.events FROM postern.dispatches d JOIN postern.endpoints e ON e.id = d.endpoint_id
        WHERE d.event_id = $1 ORDER BY 1`,
      [id],
    );
    assert.deepEqual(rows, [{ events: ["order.paid"] }, { events: ["order.paid@1"] }]);
    await database.pool.query("DELETE FROM postern.dispatches; DELETE FROM postern.endpoints");
  });

  it("waits for the next relay behind 500 others", async () => {
    for (let n = 0; n < 501; n++) await leave({ type: "order.sent" });
    const outbox = open();
    assert.deepEqual([await outbox.relay(), (await accepted()).length], ["more", 500]);
    assert.deepEqual([await outbox.relay(), (await accepted()).length], ["all", 501]);
  });

  it("goes with fewer others after the database cancelled a relay for its length", async (test) => {
    await database.pool.query(`
      CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT count(*) FROM added) > 2 THEN RAISE EXCEPTION 'too long' USING ERRCODE = '57014'; END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER refuse_many AFTER INSERT ON postern.events REFERENCING NEW TABLE AS added
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()`);
    test.after(() => database.pool.query("DROP FUNCTION refuse_many CASCADE"));
    for (let n = 0; n < 7; n++) await leave({ type: "order.sent" });
    const outbox = open();
    const counts: (number | string)[] = [];
    for (let n = 0; n < 7; n++) {
      await outbox.relay().catch((error: unknown) => counts.push(codeOf(error)));
      counts.push((await accepted()).length);
    }
    // Of 500, 63, 8 and one event; then of two; of four, and of one and two again.
    assert.deepEqual(counts, ["57014", 0, "57014", 0, "57014", 0, 1, 3, "57014", 3, 4]);
  });
});

describe("an event that no publish over HTTP would take", () => {
  const cases: [string, Left, reason: string, text: string, faults: unknown[]][] = [
    [
      "breaks the schema of its version",
      { type: "order.paid", version: 1, data: { lines: "x" } },
      "schema",
      "breaks its type's schema",
      [{ path: ["lines"], message: "must be integer" }],
    ],
    [
      "breaks the schema of another of its versions",
      { type: "order.paid", version: 2, data: {}, versions: { "1": { lines: "x" } } },
      "schema",
      "breaks its type's schema",
      [{ path: ["lines"], message: "must be integer" }],
    ],
    [
      "breaks a rule of all data",
      { type: "order.paid", version: 1, data: { lines: "x\u0000" } },
      "nul_character",
      "holds data that no event may hold",
      [],
    ],
  ];
  for (const [name, left, reason, text, faults] of cases) {
    it(`since it ${name} is not sent: the log and a metric say so`, async () => {
      const eventId = await leave(left);
      const other = await leave({ type: "order.sent" });
      assert.equal(await open().relay(), "all");
      assert.deepEqual(
        (await accepted()).map(({ id }) => id),
        [other],
      );
      assert.deepEqual(await counted("eventsRejected"), [[reason, 1]]);
      const [{ level, time: _time, ...line } = {}, ...others] = logged;
      assert.deepEqual([level, others], [50, []]);
      const message = `an event published from SQL ${text} and is not sent`;
      assert.deepEqual(line, {
        tenantId: "acme",
        eventId,
        eventType: left.type,
        reason,
        faults,
        msg: message,
      });
    });
  }

  it("since the catalog lacks its type has ten minutes to be taken by others", async () => {
    const id = await leave({ type: "order.none" });
    await open().relay();
    assert.deepEqual([await counted("eventsRejected"), logged], [[], []]);
    await database.pool.query(
      "UPDATE postern.outbox SET id = postern.lowest_id_at(now() - interval '11 minutes') WHERE id = $1",
      [id],
    );
    await open().relay();
    assert.deepEqual([await counted("eventsRejected"), await accepted()], [[["unknown_event_type", 1]], []]);
    assert.equal(
      logged[0]?.["msg"],
      "an event published from SQL has a type that the catalog lacks and is not sent",
    );
  });
});

describe("an event of Postern's own", () => {
  const DATA = { endpoint_id: "e1", url: "https://example.com/" };
  const publish = () => publishOwn(database.pool, acme, { type: "endpoint.disabled", data: DATA });

  it("is sent by a schema of Postern's, not of the operator's", async () => {
    await publish();
    await open().relay();
    assert.deepEqual(
      (await accepted()).map(({ type, data }) => [type, data]),
      [["endpoint.disabled", DATA]],
    );
    assert.deepEqual(await counted("ownEvents"), [["endpoint.disabled", 1]]);
  });

  it("goes to the operator's tenant too, with the tenant that it is about, under an id of its own", async () => {
    await publish();
    await leave({ type: "order.sent" });
    await open("ops").relay();
    const [own, sent, copy, ...others] = await accepted();
    assert.deepEqual([own?.tenant, sent?.tenant, copy?.tenant, others], ["acme", "acme", "ops", []]);
    assert.deepEqual([copy?.type, copy?.data], ["endpoint.disabled", { tenant_id: "acme", ...DATA }]);
    assert.equal(new Set([own?.id, sent?.id, copy?.id]).size, 3);
  });

  it("is not sent twice to the operator's tenant of its own endpoints", async () => {
    await publish();
    await open("acme").relay();
    assert.equal((await accepted()).length, 1);
  });
});

/** To SQL. */
async function typesKnown() {
  const { rows } = await database.pool.query(
    "SELECT type, newest, needed, others FROM postern.event_types WHERE type LIKE 'order.%' ORDER BY type",
  );
  return rows;
}

describe("the types that SQL knows", () => {
  const TYPES = [
    { type: "order.paid", newest: 2, needed: [1], others: [1, 3] },
    { type: "order.sent", newest: 1, needed: [], others: [] },
  ];

  it("are those of the catalog in force, from its change on", async () => {
    let inForce = catalog;
    const announce = makeCatalogAnnouncer(database.pool, { current: () => inForce });
    await announce();
    assert.deepEqual(await typesKnown(), TYPES);
    inForce = await catalogOf([{ ...shown, type: "order.sent" }]);
    await announce();
    assert.deepEqual(await typesKnown(), TYPES.slice(1));
  });

  it("are announced again each minute, as another process may have another catalog", async (test) => {
    let nowMs = performance.now();
    test.mock.method(performance, "now", () => nowMs);
    const announce = makeCatalogAnnouncer(database.pool, { current: () => catalog });
    await announce();
    await database.pool.query("DELETE FROM postern.event_types");
    nowMs += 59_999;
    await announce();
    assert.deepEqual(await typesKnown(), []);
    nowMs += 1;
    await announce();
    assert.deepEqual(await typesKnown(), TYPES);
  });
});
