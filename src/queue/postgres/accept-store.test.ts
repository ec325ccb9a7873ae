import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { beforeEach, describe, it } from "node:test";
import { noticesOf } from "../../../test/support/notices.ts";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { event } from "../../../test/support/store-inputs.ts";
import { EVENT_TYPE, type Rows } from "../../../test/support/two-tenants.ts";
import { isMisrouted } from "../../database/residence.ts";
import { newEndpointId } from "../../shared/id.ts";
import { LEASE_MS, type NewEvent } from "../queue.ts";
import { FETCH_CHANNEL, WAKE_CHANNEL } from "../channels.ts";
import { ALL_SLOTS, NEIGHBOURS, NO_SLOTS, SlotSet, slotOf } from "../slots.ts";
import { acceptEvents, findEarlierEvents, findEventOfKey, findKnownEvents } from "./accept-store.ts";

const seeded = seededDatabase();
const { sql } = seeded;
beforeEach(async () => {
  await sql(
    "DELETE FROM postern.dispatches; DELETE FROM postern.events; DELETE FROM postern.idempotency_keys",
  );
});

type Options = Parameters<typeof acceptEvents>[2];

const UNLEASED = { leaseId: null, slots: NO_SLOTS, parked: [], firstDelayMs: 0 };
const accept = (events: readonly NewEvent[], options: Partial<Options> = {}) =>
  acceptEvents(seeded.pool, events, { ...UNLEASED, ...options });

const TRACEPARENT = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
const VERSIONS = { version: 2, others: { 1: '{"data":1}' } };

/** As they are stored, with the key under which each is found. */
async function stored() {
  return sql(
    `SELECT e.tenant_id AS of, e.id, type, body, version, versions, traceparent, dispatch_count AS dispatches, k.key
      FROM postern.events AS e LEFT JOIN postern.idempotency_keys AS k ON k.tenant_id = e.tenant_id AND k.event_id = e.id
      ORDER BY e.id`,
  );
}

const asStored = (given: NewEvent, dispatches = 1) => ({
  of: given.tenantId,
  id: given.id,
  type: given.type,
  body: given.body,
  version: given.version === 1 ? null : given.version,
  versions: given.others,
  traceparent: given.traceparent ?? null,
  dispatches,
  key: given.idempotencyKey,
});

/** Each dispatch, with the place of its event among these. */
async function made(events: readonly NewEvent[]) {
  const rows = await sql(
    `SELECT event_id, endpoint_id, held, parked, lease_owner, version FROM postern.dispatches ORDER BY endpoint_id, event_id`,
  );
  const places = new Map(events.map(({ id }, place) => [id, place]));
  return rows.map(({ event_id, ...rest }) => [places.get(event_id), rest]);
}

describe("a group of events", () => {
  const PARTS: Record<string, Partial<NewEvent>> = {
    "nothing besides": {},
    "a key": { idempotencyKey: "order-1" },
    "a version": { version: 2 },
    "other versions": { others: { 2: '{"data":2}' } },
    "a traceparent": { traceparent: TRACEPARENT },
    "all of them": { ...VERSIONS, idempotencyKey: "order-1", traceparent: TRACEPARENT },
  };

  it("is stored as it is, whatever one of them has, and wherever its tenants are known to live", async () => {
    // Of one session, which takes a statement with a name for what it was the first time.
    const session = await seeded.pool.connect();
    const residents = { tenantIds: [seeded.acme.tenantId, seeded.globex.tenantId], versions: [1, 1] };
    try {
      for (const among of [null, residents]) {
        for (const [name, parts] of Object.entries(PARTS)) {
          await sql("DELETE FROM postern.events; DELETE FROM postern.idempotency_keys");
          const first = { ...event(seeded.acme, null), ...parts };
          const beside = event(seeded.globex, null);
          const alone = { ...event(seeded.acme, null), ...parts, idempotencyKey: null };
          for (const group of [[first, beside], [alone]]) {
            const { accepted } = await acceptEvents(session, group, { ...UNLEASED, residents: among });
            const counts = new Map(accepted.map(({ id, dispatchCount }) => [id, dispatchCount]));
            assert.deepEqual(counts, new Map(group.map(({ id }) => [id, 1])), name);
          }
          assert.deepEqual(
            await stored(),
            [first, beside, alone].map((given) => asStored(given)),
            name,
          );
        }
      }
    } finally {
      session.release(true);
    }
  });

  it("waits for keys that others hold as long as it is told, and otherwise by its session's limit", async () => {
    const session = await seeded.pool.connect();
    const limitAfter = async (lockWaitMs: number | null) => {
      await session.query("BEGIN; SET LOCAL lock_timeout = '7s'");
      await acceptEvents(session, [event(seeded.acme, "order-1")], { ...UNLEASED, lockWaitMs });
      const { rows } = await session.query("SHOW lock_timeout");
      await session.query("ROLLBACK");
      return rows[0].lock_timeout;
    };
    try {
      assert.deepEqual([await limitAfter(1234), await limitAfter(null)], ["1234ms", "7s"]);
    } finally {
      session.release(true);
    }
  });

  it("is not stored where a tenant lives elsewhere, or under another version", async () => {
    const { acme, globex } = seeded;
    const events = [event(acme, null), event(globex, null)];
    const tenantIds = [acme.tenantId, globex.tenantId];
    for (const versions of [
      [2, 1],
      [1, 2],
    ]) {
      await assert.rejects(accept(events, { residents: { tenantIds, versions } }), isMisrouted);
    }
    assert.deepEqual(await stored(), []);
  });

  it("is told to the workers of its slots, or to the endpoint's clients, and not what is leased here", async () => {
    const { acme, pool } = seeded;
    const leaseId = randomUUID();
    const neighbours = Math.floor(slotOf(acme.endpointId) / NEIGHBOURS);
    for (const [options, mode, told] of [
      [{}, "push", [WAKE_CHANNEL, `slots ${neighbours}`]],
      [{ leaseId, slots: ALL_SLOTS }, "push", null],
      [{ leaseId }, "push", [WAKE_CHANNEL, `slots ${neighbours}`]],
      [{ leaseId, slots: ALL_SLOTS, parked: [acme.endpointId] }, "push", null],
      [{ leaseId, slots: ALL_SLOTS }, "pull", [FETCH_CHANNEL, acme.endpointId]],
    ] as const) {
      await sql("UPDATE postern.endpoints SET mode = $1", mode);
      const heard = await noticesOf(pool, () => accept([event(acme, null), event(acme, null)], options));
      assert.deepEqual(heard, told === null ? [] : [told]);
    }
    await sql("UPDATE postern.endpoints SET mode = 'push'");
  });

  it("gets the dispatches of each endpoint that names one of its patterns, and is counted", async () => {
    const subscribe = (pattern: string) =>
      sql(
        `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
          VALUES ($1, $2, 'https://example.com/', $3, '', now(), now())`,
        seeded.acme.tenantId,
        newEndpointId(),
        [pattern],
      );
    for (const pattern of ["invoice.*", "payment.*", "null"]) await subscribe(pattern);
    const wide = { ...event(seeded.acme, null), patterns: ["*", "invoice.*"] };
    const narrow = { ...event(seeded.acme, null), patterns: ["invoice.*"] };
    const unheard = { ...event(seeded.acme, null), patterns: ["order.*"] };
    // SQL's word for nothing, and a type that a catalog may have.
    const odd = { ...event(seeded.acme, null), patterns: ["null"] };
    const { accepted } = await accept([wide, narrow, unheard, odd]);
    const counts = new Map(accepted.map(({ id, dispatchCount }) => [id, dispatchCount]));
    assert.deepEqual(
      [wide, narrow, unheard, odd].map(({ id }) => counts.get(id)),
      [2, 1, 0, 1],
    );
    const expected = [asStored(wide, 2), asStored(narrow, 1), asStored(unheard, 0), asStored(odd, 1)];
    assert.deepEqual(await stored(), expected);
  });
});

describe("many events of one tenant and type", () => {
  const OTHER_TYPE = "order.paid";
  const ENDPOINTS = [
    ["*"],
    [EVENT_TYPE],
    [`${EVENT_TYPE}@1`],
    [`${EVENT_TYPE}@1`, `${EVENT_TYPE}@2`],
    [OTHER_TYPE],
    ["order.sent"],
  ];
  const PARTS: Record<string, Partial<NewEvent>> = {
    plain: {},
    extra: { ...VERSIONS, traceparent: TRACEPARENT },
    keyed: { idempotencyKey: "of each" },
  };

  async function subscribeAll() {
    await sql("DELETE FROM postern.endpoints WHERE tenant_id = $1", seeded.acme.tenantId);
    const states = ["mode = 'push'", "mode = 'pull'", "moving = true", "deleted_at = now()"];
    for (const [place, patterns] of [...ENDPOINTS, ...ENDPOINTS].entries()) {
      const id = newEndpointId();
      await sql(
        `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
          VALUES ($1, $2, 'https://example.com/', $3, '', now(), now())`,
        seeded.acme.tenantId,
        id,
        patterns,
      );
      const state = place < ENDPOINTS.length ? "mode = 'push'" : (states[place % states.length] ?? "");
      await sql(`UPDATE postern.endpoints SET ${state} WHERE id = $1`, id);
    }
  }

  function make(count: number, parts: Partial<NewEvent>): NewEvent[] {
    return Array.from({ length: count }, (_, n) => ({
      ...event(seeded.acme, null),
      type: n % 2 === 0 ? EVENT_TYPE : OTHER_TYPE,
      patterns: n % 2 === 0 ? ["*", EVENT_TYPE, `${EVENT_TYPE}@1`, `${EVENT_TYPE}@2`] : ["*", OTHER_TYPE],
      // One without the others', as a group may have.
      ...(n % 8 < 6 && parts),
      ...(parts.idempotencyKey !== undefined && { idempotencyKey: `${n % 8}` }),
    }));
  }

  it("get what each would get alone", async () => {
    const leaseId = randomUUID();
    const session = await seeded.pool.connect();
    try {
      await subscribeAll();
      const [backlogged] = await sql("SELECT id FROM postern.endpoints WHERE events = '{*}'");
      const options = {
        ...UNLEASED,
        leaseId,
        slots: new SlotSet([1, 9, 77, 140, 200]),
        parked: [backlogged.id],
      };
      for (const residents of [null, { tenantIds: [seeded.acme.tenantId], versions: [1] }])
        for (const [name, parts] of Object.entries(PARTS)) {
          const results = [];
          for (const size of [1, 80]) {
            await sql(
              "DELETE FROM postern.dispatches; DELETE FROM postern.events; DELETE FROM postern.idempotency_keys",
            );
            const events = make(80, parts);
            const counts = new Map<string, number>();
            const leased = [];
            for (let from = 0; from < events.length; from += size) {
              const group = events.slice(from, from + size);
              const answer = await acceptEvents(session, group, { ...options, residents });
              for (const { id, dispatchCount } of answer.accepted) counts.set(id, dispatchCount);
              leased.push(...answer.leased.map(({ endpointId, body }) => [endpointId, body]));
            }
            results.push({
              made: await made(events),
              counts: events.map(({ id }) => counts.get(id)),
              leased: leased.length,
              stored: (await stored()).map(({ dispatches, version, key }) => [dispatches, version, key]),
            });
          }
          const [alone, together] = results;
          assert.deepEqual(together, alone, name);
          assert.ok((alone?.made.length ?? 0) > 20, name);
        }
      const { rows } = await session.query(
        "SELECT name FROM pg_prepared_statements WHERE name LIKE 'accept-%alike' ORDER BY name",
      );
      assert.deepEqual(
        rows.map(({ name }) => name.replace(/^accept-events-|-?alike$/g, "")),
        ["", "extra", "extra-here", "here", "keyed", "keyed-here"].toSorted(),
      );
    } finally {
      session.release(true);
    }
  });
});

describe("what is leased at once", () => {
  const leaseId = randomUUID();

  it("is all that an attempt needs, in the order of publishing, until the end of the lease", async () => {
    const { tenantId, endpointId } = seeded.acme;
    const events: NewEvent[] = [
      event(seeded.acme, null),
      { ...event(seeded.acme, null), ...VERSIONS, traceparent: TRACEPARENT },
      event(seeded.acme, null),
    ];
    for (const given of [events, events.toReversed()]) {
      await sql("DELETE FROM postern.dispatches; DELETE FROM postern.events");
      const before = performance.now();
      const { leased } = await accept(given, { leaseId, slots: ALL_SLOTS });
      const ids = await sql("SELECT id FROM postern.dispatches ORDER BY event_id");
      const [leaseEndsMs = 0] = leased.map((dispatch) => dispatch.leaseEndsMs);
      assert.ok(leaseEndsMs >= before + LEASE_MS && leaseEndsMs <= performance.now() + LEASE_MS);
      const asLeased = events.map(({ id: eventId, body, traceparent }, place) =>
        Object.assign(
          { id: ids[place].id, tenantId, endpointId, eventId, eventType: EVENT_TYPE, body },
          { attempt: 1, once: false, leaseId, leaseEndsMs },
          traceparent === undefined ? {} : { traceparent },
        ),
      );
      assert.deepEqual(leased, asLeased);
    }
  });

  it("has the body of the version that its endpoint names", async () => {
    await sql("UPDATE postern.endpoints SET events = $1", [`${EVENT_TYPE}@1`]);
    const given = { ...event(seeded.acme, null), ...VERSIONS, patterns: [`${EVENT_TYPE}@1`] };
    const { leased } = await accept([given], { leaseId, slots: ALL_SLOTS });
    assert.deepEqual(
      leased.map(({ body }) => body),
      [VERSIONS.others[1]],
    );
  });

  it("is nothing of endpoints that are backlogged or fetched from", async () => {
    const { acme, globex } = seeded;
    await sql("UPDATE postern.endpoints SET mode = 'pull' WHERE tenant_id = 'globex'");
    const events = [acme, globex].map((rows: Rows) => event(rows, null));
    const options = { leaseId, slots: ALL_SLOTS, parked: [acme.endpointId] };
    const { accepted, ...rest } = await accept(events, options);
    assert.deepEqual(rest, {
      leased: [],
      parked: [{ tenantId: acme.tenantId, endpointId: acme.endpointId }],
      unleased: [],
    });
    assert.deepEqual(
      accepted.map(({ dispatchCount }) => dispatchCount),
      [1, 1],
    );
    assert.deepEqual(
      await sql(
        "SELECT tenant_id AS of, lease_owner AS owner, held, parked, claimable_at = due_at AS free FROM postern.dispatches ORDER BY 1",
      ),
      [
        { of: "acme", owner: null, held: false, parked: true, free: true },
        { of: "globex", owner: null, held: true, parked: false, free: true },
      ],
    );
  });
});

it("says at which endpoints it leased nothing, since others have their slots", async () => {
  const leaseId = randomUUID();
  const { leased, unleased, parked } = await accept([event(seeded.acme, null)], { leaseId });
  assert.deepEqual([leased, unleased, parked], [[], [seeded.acme.endpointId], []]);
});

describe("what was accepted before", () => {
  it("is found by a tenant's key, and by its tenant's id", async () => {
    const { acme, globex } = seeded;
    const given = event(acme, "order-1");
    await accept([given]);
    const find = (rows: Rows, key: string) => findEventOfKey(seeded.pool, rows.tenantId, key);
    assert.equal(await find(acme, "order-1"), given.id);
    assert.equal(await find(acme, "order-2"), null);
    assert.equal(await find(globex, "order-1"), null);
    const known = (rows: Rows) =>
      findKnownEvents(seeded.pool, [{ id: given.id, tenantId: rows.tenantId }, event(rows, null)]);
    assert.deepEqual(await known(acme), new Set([given.id]));
    assert.deepEqual(await known(globex), new Set());
  });

  it("tells no number of dispatches of an event that is not fanned out yet", async () => {
    const first = event(seeded.acme, "order-1");
    await accept([first]);
    await sql("DELETE FROM postern.events WHERE id = $1", first.id);
    const again = event(seeded.acme, "order-1");
    assert.deepEqual(
      await findEarlierEvents(seeded.pool, [again]),
      new Map([[again.id, { id: first.id, dispatchCount: null, sameContent: true }]]),
    );
  });

  it("has the same content only with the same versions", async () => {
    const first = { ...event(seeded.acme, "order-1"), ...VERSIONS };
    await accept([first]);
    const again = event(seeded.acme, "order-1");
    for (const [other, sameContent] of [
      [VERSIONS, true],
      [{ ...VERSIONS, version: 3 }, false],
      [{ ...VERSIONS, others: { 1: '{"data":{}}' } }, false],
      [{ ...VERSIONS, others: null }, false],
    ] as const) {
      assert.deepEqual(
        await findEarlierEvents(seeded.pool, [{ ...again, ...other }]),
        new Map([[again.id, { id: first.id, dispatchCount: 1, sameContent }]]),
        JSON.stringify(other),
      );
    }
  });
});
