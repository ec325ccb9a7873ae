/** Arrays of events for many endpoints: no statement makes more dispatches than other publishers can wait for. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { openCatalog } from "../src/events/live-catalog.ts";
import { ROWS_AT_ONCE } from "../src/events/fan-out.ts";
import { Acceptor } from "../src/events/acceptor.ts";
import { makeCommitting } from "../src/events/committing.ts";
import { makePublisher } from "../src/events/publish.ts";
import type { AcceptedEvent } from "../src/queue/queue.ts";
import { newEndpointId, parseTenantId } from "../src/shared/id.ts";
import { Refusal } from "../src/shared/refusal.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { NO_LANE, openTestQueue } from "./support/test-queue.ts";

const ENDPOINTS = 60;
const EVENTS = 300;
const acme = parseTenantId("acme");

let database: TestDatabase;
/** Dispatches that each statement made. */
const made: number[] = [];

before(async () => {
  database = await createTestDatabase();
  for (let n = 0; n < ENDPOINTS; n++) {
    await database.pool.query(
      `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
        VALUES ('acme', $1, 'https://example.com/', ARRAY['invoice.*'], '', now(), now())`,
      [newEndpointId()],
    );
  }
});
after(() => database.drop());

function dispatchesOf(accepted: readonly AcceptedEvent[]): number {
  return accepted.reduce((sum, { dispatchCount }) => sum + dispatchCount, 0);
}

async function openPublisher() {
  const queue = openTestQueue(database.pool);
  const acceptor = new Acceptor({
    queue: {
      ...queue,
      async accept(...args) {
        const acceptance = await queue.accept(...args);
        made.push(dispatchesOf(acceptance.accepted));
        return acceptance;
      },
      async acceptParts(parts, options) {
        const result = await queue.acceptParts(parts, options);
        for (const part of parts) {
          const ids = new Set(part.map(({ id }) => id));
          made.push(dispatchesOf(result.accepted.filter(({ id }) => ids.has(id))));
        }
        return result;
      },
    },
    ownLane: NO_LANE,
  });
  return makePublisher(
    await openCatalog(undefined),
    makeCommitting(acceptor, () => undefined),
  );
}

async function stored(): Promise<{ events: number; dispatches: number }> {
  const { rows } = await database.pool.query(
    `SELECT (SELECT count(*)::int FROM postern.events) AS events,
      (SELECT count(*)::int FROM postern.dispatches) AS dispatches`,
  );
  return rows[0];
}

const eventsWith = (key: (n: number) => string | undefined) =>
  Array.from({ length: EVENTS }, (_, n) => {
    const id = key(n);
    return { type: "invoice.paid", data: { n }, ...(id === undefined ? {} : { id }) };
  });

it("an array is stored in statements of bounded size, whole, by a process that knows the tenant and one that does not", async () => {
  const publisher = await openPublisher();
  for (let round = 1; round <= 2; round++) {
    const published = await publisher.publish(
      eventsWith(() => undefined),
      acme,
    );
    assert.ok(published.every(({ dispatchCount }) => dispatchCount === ENDPOINTS));
    assert.deepEqual(await stored(), { events: round * EVENTS, dispatches: round * EVENTS * ENDPOINTS });
  }
  assert.ok(made.length > 2 && made.every((rows) => rows <= ROWS_AT_ONCE), made.join(" "));
});

for (const [what, keyOf] of [
  ["without keys", () => undefined],
  ["with keys", (n: number) => `single ${n}`],
] as const) {
  it(`single events ${what} that come together share statements of bounded size`, async () => {
    const publisher = await openPublisher();
    made.length = 0;
    await Promise.all(eventsWith(keyOf).map((event) => publisher.publish(event, acme)));
    assert.ok(made.length > 1 && made.every((rows) => rows <= ROWS_AT_ONCE), made.join(" "));
  });
}

it("an array with a conflict in its last part stores nothing of the parts before", async () => {
  const publisher = await openPublisher();
  await publisher.publish({ type: "invoice.paid", data: { other: true }, id: "taken" }, acme);
  const before = await stored();
  await assert.rejects(
    publisher.publish(
      eventsWith((n) => (n === EVENTS - 1 ? "taken" : `key ${n}`)),
      acme,
    ),
    (error) => error instanceof Refusal && error.code === "idempotency_key_reused",
  );
  assert.deepEqual(await stored(), before);
});
