/** A tenant's events: the list, one event with its attempts by endpoint, and a delivery by its id alone. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { eventAnswer, eventsAnswer } from "../src/api/event-schemas.ts";
import { deliveryObject } from "../src/api/schemas.ts";
import { idAt } from "../src/shared/id.ts";
import { steered } from "./support/receivers.ts";
import { MEMBER, OTHER_OWNER, PRODUCER, type CallOptions } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  first,
  issuesOf,
  publish,
  REFUSED,
  UNKNOWN_ID,
  webhooksOf,
  type Webhooks,
} from "./support/webhooks.ts";

const MINUTE = 60_000;
const start = Date.now() - 60 * MINUTE;
const at = (place: number) => new Date(start + place * MINUTE).toISOString();
const deliveryAnswer = z.strictObject({ delivery: deliveryObject.strict() });

const receiver = steered();
let service: TestService;
let acme: Webhooks;

before(async () => {
  // Attempts of an event: now, and an hour later, when nobody looks any more.
  service = await startTestService({ respond: receiver.respond, env: { RETRY_SCHEDULE: "0s,1h" } });
  acme = webhooksOf(service);
});
after(() => service.stop());

const call = (path: string, options?: CallOptions) => service.call("GET", `/api/events${path}`, options);

const get = (id: string, options?: CallOptions) => service.call("GET", `/api/deliveries/${id}`, options);

async function list(query: string, options?: CallOptions) {
  const answer = await call(query, options);
  assert.equal(answer.status, 200, answer.text);
  return { ...eventsAnswer.strict().parse(answer.body), link: answer.headers.get("link") };
}

async function story(id: string, options?: CallOptions) {
  const answer = await call(`/${id}`, options);
  assert.equal(answer.status, 200, answer.text);
  return eventAnswer.strict().parse(answer.body);
}

/** The path of the next page, or undefined on the last. */
function nextOf(link: string | null): string | undefined {
  return /^<\S*\/api\/events(\?\S+)>; rel="next"$/.exec(link ?? "")?.[1];
}

describe("GET /api/events", () => {
  /** A minute apart, oldest first; of a tenant whose log holds nothing else. */
  const as = { ...OTHER_OWNER, tid: "lists" };
  const types = ["a.one", "a.two", "b", "a.one", "a"] as const;
  const ids = types.map((_type, place) => idAt(start + place * MINUTE));

  before(async () => {
    await service.database.pool.query(
      `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
        SELECT tenant_id, id, type, '{}', 3 FROM unnest($1::text[], $2::uuid[], $3::text[]) AS given (tenant_id, id, type)`,
      [
        [...ids.map(() => "lists"), "others"],
        [...ids, idAt(start)],
        [...types, "a.one"],
      ],
    );
  });

  const queries: [string, number[]][] = [
    ["", [4, 3, 2, 1, 0]],
    ["?type=a.one", [3, 0]],
    ["?type=a.*", [3, 1, 0]],
    ["?type=a", [4]],
    ["?type=c", []],
    [`?from=${at(3)}`, [4, 3]],
    [`?to=${at(2)}`, [1, 0]],
    [`?from=${at(3)}&to=${at(1)}`, []],
    [`?before=${ids[2]}`, [1, 0]],
    [`?before=${ids[3]}&type=a.*&from=${at(1)}`, [1]],
  ];
  for (const [query, places] of queries) {
    it(`answers ${query === "" ? "all, newest first" : query.replaceAll(/\d{4}-\S*/g, "…")}`, async () => {
      const { events, searched_to, link } = await list(query, { as });
      assert.deepEqual(
        events.map(({ id }) => id),
        places.map((place) => ids[place]),
      );
      assert.deepEqual([searched_to, link], [null, null]);
    });
  }

  it("shows each with its type, time and number of dispatches", async () => {
    const { events } = await list(`?before=${ids[1]}`, { as });
    assert.deepEqual(events, [{ id: ids[0], type: "a.one", deliveries: 3, created_at: at(0) }]);
  });

  it("leads from page to page by Link, with the same filter", async () => {
    const seen: (string | undefined)[] = [];
    let path: string | undefined = "?limit=2&type=a.*";
    while (path !== undefined) {
      const { events, link, searched_to } = await list(path, { as });
      seen.push(...events.map(({ id }) => id));
      path = nextOf(link);
      assert.equal(path === undefined, searched_to === null);
    }
    assert.deepEqual(seen, [ids[3], ids[1], ids[0]]);
  });

  it("looks at 5,000 events at most, and goes on by Link", async () => {
    await service.database.pool.query(
      `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
        SELECT 'busy', overlay(low::text placing '7' || right(gen_random_uuid()::text, 21) from 15)::uuid, 'common', '{}', 0
        FROM (SELECT postern.lowest_id_at(to_timestamp($1::float8 / 1000 + n)) AS low FROM generate_series(1, 5400) n) AS made
        UNION ALL SELECT 'busy', $2, 'rare', '{}', 0`,
      [start - 2 * 3_600_000, idAt(start - 3 * 3_600_000)],
    );
    const busy = { as: { ...as, tid: "busy" } };
    const page = await list("?type=rare", busy);
    assert.deepEqual(page.events, []);
    assert.ok(page.searched_to !== null);
    const rest = await list(nextOf(page.link) ?? "", busy);
    assert.deepEqual([rest.events.map(({ type }) => type), rest.searched_to], [["rare"], null]);
  });

  it("shows another tenant nothing, and takes a foreign event's id as a place in time", async () => {
    assert.deepEqual((await list("", { as: { ...as, tid: "nobody" } })).events, []);
    assert.equal((await list(`?before=${ids[4]}`, { as: { ...as, tid: "others" } })).events.length, 1);
  });

  for (const [query, path] of [
    ["?limit=0", "limit"],
    ["?limit=101", "limit"],
    ["?before=x", "before"],
    ["?from=yesterday", "from"],
    ["?type=", "type"],
    ["?type=a%00", "type"],
    ["?event_type=a", "event_type"],
    ["?colour=red", ""],
  ] as const) {
    it(`answers Invalid query to ${query}`, async () => {
      assert.deepEqual(Object.keys(issuesOf(await call(query), "Invalid query")), [path]);
    });
  }

  it("is for users with settings:read, beside publishing for services", async () => {
    for (const path of ["", `/${UNKNOWN_ID}`]) {
      for (const nobody of [null, PRODUCER]) {
        assertRefused(await call(path, { as: nobody }), REFUSED.unauthorized);
      }
      assertRefused(await call(path, { as: { ...MEMBER, role: "guest" } }), REFUSED.forbidden);
    }
    assert.equal((await call("", { as: MEMBER })).status, 200);
    const user = { json: { type: "invoice.paid", data: {} } };
    assertRefused(await service.call("POST", "/api/events", user), REFUSED.unauthorized);
  });
});

describe("GET /api/events/{event_id}", () => {
  it("shows the exact body, and each endpoint with its state, next attempt and attempts", async () => {
    const good = (await acme.create({ url: `${service.receiver.url}/good` })).endpoint.id;
    const bad = (await acme.create({ url: `${service.receiver.url}/bad` })).endpoint.id;
    receiver.answer = ({ path }) => ({ status: path.endsWith("/bad") ? 500 : 200 });
    const { id } = await publish(service, { type: "invoice.paid", data: { amount: 1 } });
    const told = await eventually(async () => {
      const found = await story(id);
      const made = found.endpoints.flatMap(({ attempts }) => attempts);
      return made.filter(({ status }) => status !== "pending").length === 2 && found;
    });
    const sent = service.receiver.requests.find(({ headers }) => headers["webhook-id"] === id);
    assert.equal(told.event.body, sent?.body.toString("utf8"));
    assert.deepEqual([told.event.type, told.event.deliveries, told.is_partial], ["invoice.paid", 2, false]);
    const byId = new Map(told.endpoints.map((endpoint) => [endpoint.endpoint_id, endpoint]));
    assert.deepEqual([byId.get(good)?.state, byId.get(good)?.next_attempt_at], ["delivered", null]);
    const failed = byId.get(bad);
    assert.equal(failed?.state, "pending");
    assert.ok(Date.parse(failed.next_attempt_at ?? "") > Date.now() + 30 * MINUTE);
    assert.deepEqual(
      failed.attempts.map(({ status, attempt }) => [status, attempt]),
      [
        ["pending", 2],
        ["failed", 1],
      ],
    );
    assert.ok(told.endpoints.every(({ attempts }) => attempts.every((one) => !("request_body" in one))));
    await acme.update(bad, { enabled: false });
    const held = (await story(id)).endpoints.find(({ endpoint_id }) => endpoint_id === bad);
    assert.deepEqual([held?.state, held?.next_attempt_at], ["held", null]);
    await acme.remove(bad);
    const over = (await story(id)).endpoints.find(({ endpoint_id }) => endpoint_id === bad);
    assert.deepEqual([over?.state, over?.attempts.length], ["failed", 2]);
    await acme.remove(good);
  });

  it("shows the newest 200 attempts, and says that there are more", async () => {
    const [event, endpoint] = [idAt(start), UNKNOWN_ID];
    const { pool } = service.database;
    await pool.query(`INSERT INTO postern.events VALUES ('acme', $1, 'invoice.paid', '{}', 0)`, [event]);
    await pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt, request_headers, latency_ms)
        SELECT 'acme', $1, postern.uuid_v7(), $2, 'invoice.paid', 'retry', CASE n WHEN 201 THEN 'delivered' ELSE 'failed' END, n, '{}', 1
        FROM generate_series(1, 201) n`,
      [endpoint, event],
    );
    const { endpoints, is_partial } = await story(event);
    const [only] = endpoints;
    assert.deepEqual([endpoints.length, only?.attempts.length, is_partial], [1, 200, true]);
  });

  it("is not found for another tenant, an unknown id and one that is none", async () => {
    const { id } = await publish(service, { type: "invoice.paid" });
    assert.deepEqual((await story(id)).endpoints, []);
    for (const path of [UNKNOWN_ID, "x", id.toUpperCase(), "%00"]) {
      assertRefused(await call(`/${path}`), REFUSED.notFound);
    }
    assertRefused(await call(`/${id}`, { as: OTHER_OWNER }), REFUSED.notFound);
  });
});

describe("GET /api/deliveries/{id}", () => {
  it("shows a delivery that is logged or pending, and one of a deleted endpoint", async () => {
    receiver.answer = () => ({ status: 500 });
    const { endpoint } = await acme.create();
    await publish(service, { type: "invoice.paid" });
    const logged = first(await acme.waitFor(endpoint.id, "failed"));
    const pending = first(await acme.waitFor(endpoint.id, "pending"));
    for (const expected of [logged, pending]) {
      const answer = await get(expected.id, { as: MEMBER });
      assert.deepEqual(deliveryAnswer.parse(answer.body).delivery, expected);
      assertRefused(await get(expected.id, { as: OTHER_OWNER }), REFUSED.notFound);
    }
    await acme.remove(endpoint.id);
    const answer = await get(logged.id);
    assert.deepEqual(deliveryAnswer.parse(answer.body).delivery, logged);
  });

  it("is not found for an id that nobody has, and refuses who may not read", async () => {
    for (const id of [UNKNOWN_ID, "x", "%00"]) assertRefused(await get(id), REFUSED.notFound);
    assertRefused(await get(UNKNOWN_ID, { as: null }), REFUSED.unauthorized);
    assertRefused(await get("x", { as: { ...MEMBER, role: "guest" } }), REFUSED.forbidden);
    assertRefused(await service.call("DELETE", `/api/deliveries/${UNKNOWN_ID}`), REFUSED.methodNotAllowed);
  });
});
