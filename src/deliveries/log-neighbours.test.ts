/**
 * Statements of the log among neighbours: rows of the same id at another endpoint
 * and of another tenant, and of the ids before and behind. Most of them sort first,
 * so that a statement which forgets a part of the key answers one of them.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { noticesOf } from "../../test/support/notices.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { BODY, EVENT_TYPE, tenant } from "../../test/support/two-tenants.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import { FETCH_CHANNEL } from "../queue/channels.ts";
import { PACKED_COLUMNS } from "../queue/packed-headers.ts";
import { idAt, newEndpointId, newEventId, parseDeliveryId } from "../shared/id.ts";
import {
  findBodies,
  findDelivery,
  findEndpointOf,
  findText,
  readDeliveries,
  readDeliveryHeads,
} from "./delivery-store.ts";
import type { DeliveryStatus } from "./delivery.ts";
import { listEventSlice } from "./event-log-store.ts";
import { listDeliveryIds } from "./log-page-store.ts";
import {
  ackOffers,
  leaseOffers,
  noteOfferHeaders,
  offerSend,
  readOffer,
  withdrawOffer,
} from "./person-offer-store.ts";
import { deletePersonSend, endInterruptedSends } from "./person-send-store.ts";
import { queryOf, type SearchFilter } from "./search-filter.ts";
import { searchSlice } from "./search-store.ts";

const [other, own] = [tenant("acme"), tenant("globex")];
// Of some minutes ahead: upkeep ends what a person sent three quarters of a minute ago.
const ids = Array.from({ length: 5 }, (_, n) => idAt(Date.now() + 600_000 + n));
const [first, former, id, superseded, next] = ids.map((one) => parseDeliveryId(one) ?? assert.fail());
assert.ok(first !== undefined && former !== undefined && id !== undefined && next !== undefined);
const [elsewhere, endpointId] = [newEndpointId(), newEndpointId()];
const eventId = newEventId();
const key = { tenantId: own, endpointId, id };
const range = { from: id, to: next };
const LEASE = randomUUID();

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
  for (const place of [endpointId, elsewhere])
    await insertEndpoint(database.pool, { ...newEndpoint({ tenantId: own }), id: place });
  await database.pool.query("INSERT INTO postern.events VALUES ($1, $2, $3, $4, 1)", [
    own,
    eventId,
    EVENT_TYPE,
    BODY,
  ]);
});
beforeEach(() =>
  database.pool.query(
    "DELETE FROM postern.deliveries; DELETE FROM postern.dispatches; DELETE FROM postern.person_sends",
  ),
);
after(() => database.drop());

const COLUMNS = {
  deliveries: ["trigger, status, request_headers, latency_ms", "'retry', 'failed', '{}', 1"],
  dispatches: ["due_at, claimable_at, superseded", "now(), now(), attempt = 6"],
  person_sends: ["trigger, request_body, request_headers", "'retry', $8, json_build_object('row', attempt)"],
} as const;
type Table = keyof typeof COLUMNS;
const TABLES: Table[] = ["deliveries", "dispatches", "person_sends"];

/** The one that is meant is attempt 1. The others: of another tenant 2 and 7, at another endpoint 3 and 8, before it 4, behind it 5 and 6. */
async function fill(table: Table): Promise<void> {
  const [names, values] = COLUMNS[table];
  await database.pool.query(
    `INSERT INTO postern.${table} (tenant_id, endpoint_id, id, event_id, event_type, attempt, ${names})
      SELECT tenant_id, endpoint_id, id, $6, $7, attempt, ${values}
      FROM (VALUES ($1, $3::uuid, $5::uuid, 2), ($2, $4, $5, 3), ($2, $3, $9, 4), ($2, $3, $10, 5), ($2, $3, $5, 1),
        ($2, $3, $11::uuid, 6), ($1, $3, $13::uuid, 7), ($2, $4, $13, 8)) AS given (tenant_id, endpoint_id, id, attempt)
      WHERE (attempt <> 6 OR $12) AND $8 <> ''`,
    [
      other,
      own,
      endpointId,
      elsewhere,
      id,
      eventId,
      EVENT_TYPE,
      BODY,
      former,
      next,
      superseded,
      table === "dispatches",
      first,
    ],
  );
}

describe("a delivery among its neighbours", () => {
  it("has its own tenant's set of headers, whose id another's has too", async (test) => {
    const set = randomUUID();
    for (const [tenantId, agent] of [
      [other, "theirs"],
      [own, "ours"],
    ])
      await database.pool.query("INSERT INTO postern.header_sets VALUES ($1, $2, $3, now())", [
        tenantId,
        set,
        { v: 1, req: [["user-agent", agent]] },
      ]);
    test.after(() => database.pool.query("DELETE FROM postern.header_sets"));
    await fill("deliveries");
    await database.pool.query("UPDATE postern.deliveries SET header_set = $1", [set]);
    const found = await database.pool.query(
      `SELECT ${PACKED_COLUMNS} FROM postern.deliveries d WHERE tenant_id = $1`,
      [own],
    );
    assert.ok(found.rows.length > 0);
    for (const row of found.rows) assert.match(row["header_set"], /ours/);
  });

  for (const table of TABLES) {
    it(`is the one of its tenant, endpoint and id in ${table}`, async () => {
      await fill(table);
      const { pool } = database;
      const keys = [key];
      const found = [
        ...(await readDeliveries(pool, own, { keys, maxBodyBytes: 1e6 })),
        ...(await readDeliveryHeads(pool, own, keys)),
        await findDelivery(pool, key),
      ];
      assert.deepEqual(
        found.map((delivery) => delivery?.attempt),
        [1, 1, 1],
      );
      assert.deepEqual(await findBodies(pool, own, keys), new Map([[id, BODY]]));
      // Of its tenant at one endpoint alone, and of the other tenant at the other.
      assert.equal(await findEndpointOf(pool, own, first), elsewhere);
      const text = { keys: [key, { endpointId, id: former }], text: "data", maxBytes: 1e6 };
      assert.deepEqual((await findText(pool, own, text)).hits, [true, true]);
      // The event of another tenant has no body to show.
      const foreign = await findDelivery(pool, { ...key, tenantId: other });
      assert.equal(foreign?.attempt, 2);
      assert.equal(foreign.requestBody, table === "person_sends" ? BODY : null);
    });

    it(`is on the page from its id up to the next one in ${table}, and found there`, async () => {
      await fill(table);
      const { pool } = database;
      const status: DeliveryStatus = table === "deliveries" ? "failed" : "pending";
      const page = { range, offset: 0n, limit: 10 };
      for (const asked of [status, undefined])
        assert.deepEqual(await listDeliveryIds(pool, key, asked, page), [id]);
      const filters: [filter: SearchFilter, endpoints: string[]][] = [
        [{ endpointIds: [endpointId], times: {} }, [endpointId]],
        [{ endpointIds: [endpointId], status, times: {} }, [endpointId]],
        [{ eventId, endpointIds: [endpointId], times: {} }, [endpointId]],
        [{ times: {} }, [elsewhere, endpointId]],
        [{ status, times: {} }, [elsewhere, endpointId]],
        [{ eventId, times: {} }, [elsewhere, endpointId]],
      ];
      for (const [filter, endpoints] of filters) {
        const slice = { range, most: 10, limit: 10 };
        const { found, looked } = await searchSlice(pool, own, queryOf(filter), slice);
        assert.deepEqual(found.map((one) => one.endpointId).toSorted(), endpoints, JSON.stringify(filter));
        assert.ok(found.every((one) => one.id === id));
        assert.ok(looked === endpoints.length || "eventId" in filter, `${looked} looked at`);
      }
      const all = { range: { from: former, to: next }, most: 10, limit: 1 };
      const one = await searchSlice(pool, own, queryOf({ endpointIds: [endpointId], times: {} }), all);
      assert.deepEqual(one.found, [{ endpointId, id }]);
    });
  }

  it("is not looked for where its endpoint is deleted, as long as it is pending", async () => {
    await fill("dispatches");
    const { pool } = database;
    const pending = async () => {
      const slice = { range, most: 10, limit: 10 };
      const { found } = await searchSlice(pool, own, queryOf({ status: "pending", times: {} }), slice);
      return found.map((one) => one.endpointId);
    };
    await pool.query("UPDATE postern.endpoints SET deleted_at = now() WHERE id = $1", [elsewhere]);
    try {
      assert.deepEqual(await pending(), [endpointId]);
    } finally {
      await pool.query("UPDATE postern.endpoints SET deleted_at = NULL");
    }
  });
});

describe("an event among its neighbours", () => {
  it("is in the slice from its id up to the next one, of its tenant, as far as that looks", async () => {
    const { pool } = database;
    const of = tenant("initech");
    const events = Array.from({ length: 4 }, () => newEventId());
    for (const [place, event] of events.entries())
      await pool.query("INSERT INTO postern.events VALUES ($1, $2, $3, $4, $5)", [
        place === 2 ? other : of,
        event,
        EVENT_TYPE,
        BODY,
        place,
      ]);
    const [first, second, , last] = events;
    const type = { exactly: EVENT_TYPE, prefix: null };
    const slice = async (from = "", to = "", most = 10, limit = 10) => {
      const { found, looked, lookedTo } = await listEventSlice(pool, of, type, {
        range: { from, to },
        most,
        limit,
      });
      return [found.map((event) => event.id), looked, lookedTo];
    };
    assert.deepEqual(await slice(second, last), [[second], 1, null]);
    assert.deepEqual(await slice(first, last, 10, 1), [[second], 2, null]);
    assert.deepEqual(await slice(first, last, 2), [[second, first], 2, first]);
    assert.deepEqual(await slice(first, last, 1), [[second], 1, second]);
  });
});

/** Sends by their attempt, as {@link fill} numbers them. */
async function sends(): Promise<Map<number, string>> {
  const { rows: stored } = await database.pool.query<{ attempt: number; text: string }>(
    "SELECT attempt, to_jsonb(s)::text AS text FROM postern.person_sends s ORDER BY attempt",
  );
  return new Map(stored.map(({ attempt, text }) => [attempt, text]));
}

async function changedBy(act: () => Promise<unknown>): Promise<number[]> {
  const earlier = await sends();
  await act();
  const later = await sends();
  return [...earlier].filter(([attempt, text]) => later.get(attempt) !== text).map(([attempt]) => attempt);
}

const set = (change: string) => database.pool.query(`UPDATE postern.person_sends SET ${change}`);
const lease = (limit: number) => leaseOffers(database.pool, key, LEASE, { sends: limit, bodyBytes: 1e6 });

describe("a send among its neighbours", () => {
  it("is offered, leased, acknowledged, withdrawn and ended alone", async () => {
    const { pool } = database;
    await fill("person_sends");
    assert.deepEqual((await readOffer(pool, key))?.requestHeaders, { row: 1 });
    assert.deepEqual(await changedBy(() => offerSend(pool, key, "label")), [1]);
    await set("delivery_label = 'label'");
    assert.deepEqual(await changedBy(() => lease(1)), [4]);
    assert.deepEqual(await changedBy(() => lease(1)), [1]);
    assert.deepEqual(await changedBy(() => noteOfferHeaders(pool, key, { a: "b" })), [1]);
    await set(`lease_id = '${LEASE}', leased_at = now()`);
    assert.deepEqual(await changedBy(() => ackOffers(pool, key, LEASE, [{ id, refusal: null }])), [1]);
    // What was acknowledged stays so for its person to read.
    assert.deepEqual(await changedBy(() => withdrawOffer(pool, key)), []);
    await set("acked_at = NULL");
    assert.deepEqual(await changedBy(() => withdrawOffer(pool, key)), [1]);
    assert.deepEqual(await changedBy(() => deletePersonSend(pool, key)), [1]);
  });

  it("that lost its process stays where its tenant is being moved", async () => {
    const { pool } = database;
    await fill("person_sends");
    await pool.query(
      "UPDATE postern.person_sends SET id = postern.lowest_id_at(now() - interval '1 min') WHERE attempt < 4 AND attempt > 1",
    );
    await pool.query(
      "INSERT INTO postern.shard_tenants (tenant_id, version, fenced, moving) VALUES ($1, 1, true, true)",
      [own],
    );
    try {
      assert.equal(await endInterruptedSends(pool), 1);
      assert.deepEqual([...(await sends()).keys()], [1, 3, 4, 5, 7, 8]);
    } finally {
      await pool.query("DELETE FROM postern.shard_tenants");
    }
  });

  it("is told to those who passed over it where a lease has no room for it, and to nobody where it has", async () => {
    await fill("person_sends");
    await set("delivery_label = 'label'");
    const { pool } = database;
    const heard = [];
    for (const bodyBytes of [1, 1e6]) {
      await set("lease_id = NULL");
      heard.push(await noticesOf(pool, () => leaseOffers(pool, key, LEASE, { sends: 10, bodyBytes })));
    }
    assert.deepEqual(heard, [[[FETCH_CHANNEL, endpointId]], []]);
  });

  it("is passed over while another client is about to lease it", async () => {
    await fill("person_sends");
    await set("delivery_label = 'label'");
    const [one, two] = [await database.pool.connect(), await database.pool.connect()];
    try {
      for (const client of [one, two]) await client.query("BEGIN");
      const leased = [];
      for (const client of [one, two])
        leased.push(...(await leaseOffers(client, key, LEASE, { sends: 1, bodyBytes: 1e6 })));
      assert.deepEqual(
        leased.map((offer) => offer.id),
        [former, id],
      );
    } finally {
      for (const client of [one, two]) {
        await client.query("ROLLBACK");
        client.release();
      }
    }
  });
});
