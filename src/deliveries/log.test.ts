/** Reading the log: what a page has, how far it reads, and which bodies come with it. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { readingOnly } from "../../test/support/reading-only.ts";
import { SteeredTenants } from "../../test/support/steered-tenants.ts";
import { logged } from "../../test/support/store-inputs.ts";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import {
  idAt,
  newDeliveryId,
  newEndpointId,
  newEventId,
  parseDeliveryId,
  type DeliveryId,
  type EndpointId,
} from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import type { DeliveryStatus, ListedDelivery, NewDelivery } from "./delivery.ts";
import { insertDelivery } from "./delivery-store.ts";
import { DeliveryLog } from "./log.ts";

const tenantId = tenant("acme");
const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;
const isNotFound = (error: unknown) => error instanceof Refusal && error.code === "not_found";

let database: TestDatabase;
let tenants: SteeredTenants;
let log: DeliveryLog;
let endpointId: EndpointId;
before(async () => {
  database = await createTestDatabase();
  tenants = new SteeredTenants(openTenantPool(database, 5));
});
beforeEach(() => {
  tenants.reset();
  log = new DeliveryLog(readingOnly(tenants));
  endpointId = newEndpointId();
});
after(async () => {
  await tenants.end();
  await database.drop();
});

async function addAll(...rows: Partial<NewDelivery>[]): Promise<DeliveryId[]> {
  const ids: DeliveryId[] = [];
  for (const given of rows) {
    const row = { ...logged({ tenantId, endpointId, eventId: newEventId() }), ...given };
    await insertDelivery(database.pool, row);
    ids.push(row.id);
  }
  return ids;
}

const idOf = (daysAgo: number): DeliveryId =>
  parseDeliveryId(idAt(Date.now() - daysAgo * DAY_MS)) ?? assert.fail();

const newest = (limit = 100) => log.list(tenantId, endpointId, { offset: 0n, limit, times: {} });

const page = async (given: { offset?: bigint; limit?: number; status?: DeliveryStatus | undefined } = {}) => {
  const asked = { offset: 0n, limit: 10, times: {}, ...given };
  const { listed, next } = await log.list(tenantId, endpointId, asked);
  return { ids: listed.map(({ id }) => id), next };
};

/** What is read for a page, with how many it skips and how many it wants. */
const looks = async (limit: number, offset = 0n) => {
  tenants.reset();
  await page({ limit, offset });
  return tenants.statements.map(({ name, values }) => `${name} ${String(values.slice(-2))}`);
};

async function bodiesOf(listed: readonly ListedDelivery[]) {
  tenants.reset();
  const bodies: (string | null)[] = [];
  for await (const { id, requestBody } of log.withBodies(listed)) {
    assert.equal(id, listed[bodies.length]?.id);
    bodies.push(requestBody);
  }
  return bodies;
}

describe("a page of an endpoint's log", () => {
  it("is the newest, however old, and is followed by another where older ones are left", async () => {
    const ids = await addAll(...[0, 3, 20, 60, 61].map((daysAgo) => ({ id: idOf(daysAgo) })));
    assert.deepEqual(await page({ limit: 4 }), { ids: ids.slice(0, 4), next: ids[3] });
    assert.deepEqual(await page({ limit: 5 }), { ids, next: null });
    assert.deepEqual(await page({ limit: 2, offset: 1n }), { ids: ids.slice(1, 3), next: ids[2] });
  });

  it("has what is pending and being sent among it, or what is of one status alone", async () => {
    const [delivered, failed, tested] = await addAll(
      { status: "delivered" },
      { status: "failed" },
      { status: "test", eventId: null, testId: newDeliveryId(), requestBody: "{}" },
    );
    const [pending, superseded, sending] = [newDeliveryId(), newDeliveryId(), newDeliveryId()];
    await database.pool.query(
      `INSERT INTO postern.dispatches
          (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, superseded)
        SELECT $1, $2, id, gen_random_uuid(), 'a.b', 2, now(), now(), id = $4 FROM unnest(ARRAY[$3, $4]::uuid[]) AS id`,
      [tenantId, endpointId, pending, superseded],
    );
    await database.pool.query(
      `INSERT INTO postern.person_sends
          (tenant_id, endpoint_id, id, test_id, event_type, trigger, attempt, request_headers)
        VALUES ($1, $2, $3, $3, 'a.b', 'test', 1, '{}')`,
      [tenantId, endpointId, sending],
    );
    for (const [status, ids] of [
      [undefined, [sending, pending, tested, failed, delivered]],
      ["pending", [sending, pending]],
      ["delivered", [delivered]],
      ["failed", [failed]],
      ["test", [tested]],
    ] as const) {
      assert.deepEqual(await page({ status }), { ids, next: null });
    }
    assert.equal((await log.countPending(tenantId, endpointId)).count, 1);
  });

  it("looks no further back than it must, and at once where it skips some", async () => {
    await addAll({ id: idOf(0) }, { id: idOf(0) }, { id: idOf(3) });
    const look = "list-delivery-ids-any";
    const read = (await looks(1)).at(-1);
    assert.match(read ?? "", /^read-deliveries /);
    // One more than the page has, to know whether there is another.
    assert.deepEqual((await looks(1)).slice(0, -1), [`${look} 0,2`]);
    assert.deepEqual((await looks(2)).slice(0, -1), [`${look} 0,3`, `${look} 0,1`]);
    assert.deepEqual((await looks(3)).slice(0, -1), [
      `${look} 0,4`,
      `${look} 0,2`,
      `${look} 0,1`,
      `${look} 0,1`,
    ]);
    assert.deepEqual((await looks(1, 1n)).slice(0, -1), [`${look} 1,2`]);
    assert.deepEqual(await looks(1, 3n), [`${look} 3,2`]);
  });

  it("of no endpoint is empty, and asks the database nothing", async () => {
    const empty = { listed: [], next: null };
    const nothing = { offset: 0n, limit: 10, withBodies: true };
    assert.deepEqual(await log.list(tenantId, null, { offset: 0n, limit: 10, times: {} }), empty);
    assert.deepEqual(await log.search(tenantId, null, nothing), empty);
    assert.deepEqual(tenants.statements, []);
  });

  for (const [given, takesTurns] of [
    [{ offset: 10_001n }, true],
    [{ offset: 1n, status: "delivered" }, true],
    [{ offset: 10_000n }, false],
    [{ offset: 0n, status: "delivered" }, false],
    [{ offset: 1n, status: "failed" }, false],
  ] as const) {
    const which = `${"status" in given ? given.status : "all"} behind ${given.offset}`;
    it(`(${which}) ${takesTurns ? "waits for" : "is read beside"} another of its tenant, and beside another tenant's`, async () => {
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      tenants.before = ({ tenantId: of }) => (of === tenantId ? held : undefined);
      const pages = [page(given), page(given)];
      await log.list(tenant("globex"), endpointId, { limit: 10, times: {}, ...given });
      const begun = tenants.statements.filter(({ tenantId: of }) => of === tenantId).length;
      release();
      await Promise.all(pages);
      assert.equal(begun, takesTurns ? 1 : 2);
    });
  }
});

describe("a page of a search", () => {
  it("is what follows those that are skipped, with bodies where they are asked for", async () => {
    const bodies = ['{"n":1}', '{"n":2}', '{"n":3}'];
    const [, second] = await addAll(...bodies.map((requestBody) => ({ requestBody })));
    const filter = { endpointIds: [endpointId], times: {} };
    for (const withBodies of [true, false]) {
      const { listed, next } = await log.search(tenantId, filter, { offset: 1n, limit: 1, withBodies });
      assert.deepEqual(
        listed.map(({ id, requestBody, omittedBodyBytes }) => [id, requestBody, omittedBodyBytes]),
        [[second, withBodies ? '{"n":2}' : null, null]],
      );
      assert.equal(next, second);
      tenants.reset();
      const behind = await log.search(tenantId, filter, { offset: 3n, limit: 1, withBodies });
      assert.deepEqual(behind, { listed: [], next: null });
      assert.ok(tenants.statements.every(({ name }) => name.startsWith("search-")));
    }
  });

  it("skips no more than are looked at", async () => {
    for (const [offset, read] of [
      [1n, 11],
      [5000n, 5000],
      [10n ** 30n, 5000],
    ] as const) {
      tenants.reset();
      const filter = { status: "failed" as const, endpointIds: [endpointId], times: {} };
      await log.search(tenantId, filter, { offset, limit: 10, withBodies: false });
      assert.equal(tenants.statements[0]?.values[3], read);
    }
  });
});

describe("bodies that a page left out", () => {
  it("come in the page's order, as many at once as one event may have", async () => {
    const half = "a".repeat(MIB / 2);
    const more = "b".repeat(MIB / 2 + 1);
    await addAll(...[more, half, null, half, half, "{}"].map((requestBody) => ({ requestBody })));
    const { listed } = await newest();
    assert.deepEqual(
      listed.map(({ requestBody, omittedBodyBytes }) => [requestBody, omittedBodyBytes]),
      [2, half.length, half.length, null, half.length, more.length].map((size) => [null, size]),
    );
    assert.deepEqual(await bodiesOf(listed), ["{}", half, half, null, half, more]);
    // Two halves have room together, but not behind the first two bytes.
    assert.deepEqual(
      tenants.statements.map(({ name, values }) => [name, values[2]]),
      [[0, 1], [2, 4], [5]].map((places) => ["find-bodies", places.map((place) => listed[place]?.id)]),
    );
  });

  it("are null once they are gone", async () => {
    const [gone] = await addAll({ requestBody: "{}" }, { requestBody: "c".repeat(MIB + 1) });
    const { listed } = await newest();
    await database.pool.query("DELETE FROM postern.deliveries WHERE id = $1", [gone]);
    assert.deepEqual(await bodiesOf(listed), ["c".repeat(MIB + 1), null]);
    // One that is too large for a group has one of its own.
    assert.equal(tenants.statements.length, 2);
  });

  it("of no page are none", async () => {
    assert.deepEqual(await bodiesOf([]), []);
    assert.deepEqual(tenants.statements, []);
  });
});

describe("a delivery", () => {
  it("is found by its id, at its endpoint and of its tenant alone", async () => {
    const [id = assert.fail()] = await addAll({});
    assert.equal((await log.get(tenantId, endpointId, id)).id, id);
    assert.equal((await log.getById(tenantId, id)).id, id);
    assert.equal(await log.findEndpointOf(tenantId, id), endpointId);
    await assert.rejects(log.get(tenantId, newEndpointId(), id), isNotFound);
    await assert.rejects(log.getById(tenant("globex"), id), isNotFound);
    await assert.rejects(log.getById(tenantId, newDeliveryId()), isNotFound);
    assert.equal(await log.findEndpointOf(tenantId, newDeliveryId()), null);
  });

  it("without an id or an endpoint is not looked for", async () => {
    await assert.rejects(log.get(tenantId, null, newDeliveryId()), isNotFound);
    await assert.rejects(log.get(tenantId, endpointId, null), isNotFound);
    await assert.rejects(log.getById(tenantId, null), isNotFound);
    assert.deepEqual(tenants.statements, []);
  });
});
