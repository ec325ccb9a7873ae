/** What `postern.publish` left in the outbox, seen as a worker takes it. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { takeFromOutbox } from "../src/queue/postgres/relay-store.ts";
import { createEndpoint } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService } from "./support/service.ts";

const MB = 1_000_000;
const TYPE = "invoice.paid";

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
  await database.pool.query("INSERT INTO postern.event_types VALUES ($1)", [TYPE]);
});
after(() => database.drop());
beforeEach(() => database.pool.query("TRUNCATE postern.outbox"));

/** Publishes so many events of so many bytes and answers their ids, sorted. */
async function publishLarge(count: number, bytes: number): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `SELECT postern.publish('acme', $1, jsonb_build_object('n', n, 'text', repeat('x', $2))) AS id
      FROM generate_series(1, $3) AS n`,
    [TYPE, bytes, count],
  );
  return rows.map(({ id }) => id).sort();
}

describe("a take from the outbox", () => {
  it("is bounded by bytes, and takes all, each once, with the next ones", async () => {
    const published = await publishLarge(30, MB);
    const takes: string[][] = [];
    let more = true;
    while (more) {
      const { events, mayHaveMore } = await takeFromOutbox(database.pool, [TYPE], {
        events: 500,
        bodyBytes: 8 * MB + 10_000,
      });
      takes.push(events.map(({ id }) => id));
      more = mayHaveMore;
    }
    assert.deepEqual(
      takes.map(({ length }) => length),
      [8, 8, 8, 6],
    );
    assert.deepEqual(
      takes.flatMap((ids) => ids.sort()),
      published,
    );
  });

  it("takes one event that alone exceeds the bytes", async () => {
    const [first] = await publishLarge(2, MB);
    const { events, mayHaveMore } = await takeFromOutbox(database.pool, [TYPE], {
      events: 500,
      bodyBytes: 1,
    });
    assert.deepEqual([events.map(({ id }) => id), mayHaveMore], [[first], true]);
  });

  it("is bounded by events", async () => {
    await publishLarge(3, 10);
    const limit = { events: 2, bodyBytes: MB };
    const lengths = [];
    for (let take = 0; take < 2; take++) {
      const { events, mayHaveMore } = await takeFromOutbox(database.pool, [TYPE], limit);
      lengths.push([events.length, mayHaveMore]);
    }
    assert.deepEqual(lengths, [
      [2, true],
      [1, false],
    ]);
  });

  it("passes over what another worker is taking", async () => {
    await publishLarge(3, 10);
    const other = await database.pool.connect();
    await other.query("BEGIN");
    const limit = { events: 500, bodyBytes: 1 };
    assert.equal((await takeFromOutbox(other, [TYPE], limit)).events.length, 1);
    assert.deepEqual(await takeFromOutbox(database.pool, [TYPE], limit), { events: [], mayHaveMore: false });
    await other.query("ROLLBACK");
    other.release();
    assert.equal(
      (await takeFromOutbox(database.pool, [TYPE], { events: 500, bodyBytes: MB })).events.length,
      3,
    );
  });
});

describe("a worker", () => {
  it("sends each of a few dozen events of a megabyte once", async (test) => {
    const service = await startTestService({ database });
    test.after(() => service.stop());
    await createEndpoint(service, { url: service.receiver.url });
    const published = await publishLarge(30, MB);
    await eventually(async () => {
      const { rowCount } = await database.pool.query(
        "SELECT FROM postern.outbox UNION ALL SELECT FROM postern.dispatches",
      );
      return rowCount === 0;
    });
    const received = service.receiver.requests.map(({ headers }) => String(headers["webhook-id"]));
    assert.deepEqual(received.sort(), published);
  });
});
