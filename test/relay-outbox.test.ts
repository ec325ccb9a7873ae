/** What `postern.publish` left in the outbox, seen as a worker takes it. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { RelayLimits } from "../src/queue/queue.ts";
import { findOutboxTenants, takeFromOutbox } from "../src/queue/postgres/relay-store.ts";
import type { TenantId } from "../src/shared/id.ts";
import { createEndpoint } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService } from "./support/service.ts";
import { tenant } from "./support/two-tenants.ts";

const MB = 1_000_000;
const TYPE = "invoice.paid";
const [ACME, GLOBEX] = [tenant("acme"), tenant("globex")];

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

const publishFor = (tenantId: TenantId, count: number, bytes = 10) =>
  database.pool.query(
    `SELECT postern.publish($1, $2, jsonb_build_object('text', repeat('x', $3))) FROM generate_series(1, $4)`,
    [tenantId, TYPE, bytes, count],
  );

/** How many of each tenant a take brings, and whether more may wait. */
async function takenOf(limit: RelayLimits, of = [ACME, GLOBEX]) {
  const { events, mayHaveMore } = await takeFromOutbox(database.pool, of, [TYPE], limit);
  const count = (tenantId: TenantId) => events.filter((event) => event.tenantId === tenantId).length;
  return [count(ACME), count(GLOBEX), mayHaveMore];
}

describe("a take from the outbox", () => {
  it("is bounded by bytes, and takes all, each once, with the next ones", async () => {
    const published = await publishLarge(30, MB);
    const takes: string[][] = [];
    let more = true;
    while (more) {
      const { events, mayHaveMore } = await takeFromOutbox(database.pool, [ACME], [TYPE], {
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
    const { events, mayHaveMore } = await takeFromOutbox(database.pool, [ACME], [TYPE], {
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
      const { events, mayHaveMore } = await takeFromOutbox(database.pool, [ACME], [TYPE], limit);
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
    assert.equal((await takeFromOutbox(other, [ACME], [TYPE], limit)).events.length, 1);
    assert.deepEqual(await takeFromOutbox(database.pool, [ACME], [TYPE], limit), {
      events: [],
      mayHaveMore: false,
    });
    await other.query("ROLLBACK");
    other.release();
    assert.equal(
      (await takeFromOutbox(database.pool, [ACME], [TYPE], { events: 500, bodyBytes: MB })).events.length,
      3,
    );
  });
});

describe("a take for two tenants", () => {
  it("has as many events of each, and none of others", async () => {
    await publishFor(ACME, 20);
    await publishFor(GLOBEX, 7);
    await publishFor(tenant("initech"), 1);
    assert.deepEqual(await takenOf({ events: 10, bodyBytes: MB }), [5, 5, true]);
    assert.deepEqual(await takenOf({ events: 10, bodyBytes: MB }), [5, 2, true]);
    assert.deepEqual(await takenOf({ events: 11, bodyBytes: MB }, [GLOBEX, ACME]), [5, 0, true]);
    assert.deepEqual(await takenOf({ events: 14, bodyBytes: MB }), [5, 0, false]);
    assert.deepEqual(await findOutboxTenants(database.pool), ["initech"]);
  });

  it("has one event of each where they are more than the events", async () => {
    await publishFor(ACME, 2);
    await publishFor(GLOBEX, 1);
    assert.deepEqual(await takenOf({ events: 1, bodyBytes: MB }), [1, 1, true]);
    assert.deepEqual(await findOutboxTenants(database.pool), [ACME]);
  });

  it("has the small ones first, where many tenants' first ones are large", async () => {
    const others = Array.from({ length: 9 }, (_, n) => tenant(`large-${n}`));
    for (const tenantId of others) await publishFor(tenantId, 1, MB);
    await publishFor(GLOBEX, 1);
    assert.deepEqual(await takenOf({ events: 500, bodyBytes: 8 * MB }, [...others, GLOBEX]), [0, 1, true]);
  });

  it("has events of both within the bytes, though one has published its own before", async () => {
    await publishFor(ACME, 10, MB);
    await publishFor(GLOBEX, 2);
    assert.deepEqual(await takenOf({ events: 10, bodyBytes: 3.5 * MB }), [3, 2, true]);
  });
});

describe("a worker", () => {
  it("relays a tenant's event beside the backlog of another that came before it", async (test) => {
    await database.pool.query(
      `INSERT INTO postern.outbox (id, tenant_id, type, body)
        SELECT postern.uuid_v7(), $1, $2, '{"data":{}}' FROM generate_series(1, 30000)`,
      [ACME, TYPE],
    );
    await publishFor(GLOBEX, 1);
    // How many are left when it is accepted.
    await database.pool.query(
      `CREATE TABLE public.left_then (count int);
        CREATE FUNCTION public.note_left() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
          INSERT INTO public.left_then SELECT count(*) FROM postern.outbox; RETURN NULL; END $$;
        CREATE TRIGGER note_left AFTER INSERT ON postern.events FOR EACH ROW WHEN (NEW.tenant_id = '${GLOBEX}')
          EXECUTE FUNCTION public.note_left()`,
    );
    const service = await startTestService({ database });
    test.after(() => service.stop());
    await eventually(async () => (await findOutboxTenants(database.pool)).length === 0);
    const { rows } = await database.pool.query<{ count: number }>("SELECT count FROM public.left_then");
    // Two have as many of the first five hundred.
    assert.ok(rows.length === 1 && (rows[0]?.count ?? 0) > 29_000, JSON.stringify(rows));
  });

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
