/** Searching the log of all endpoints: who may, by what, how far one request goes, and how it goes on. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { deliveryObject, listedDeliveryObject } from "../src/api/schemas.ts";
import { idAt } from "../src/shared/id.ts";
import { MEMBER, OTHER_OWNER, OWNER, PRODUCER, type CallOptions } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { assertRefused, issuesOf, REFUSED, UNKNOWN_ID, webhooksOf } from "./support/webhooks.ts";

const searched = z.strictObject({
  searched_to: z.iso.datetime().nullable(),
  deliveries: z.array(listedDeliveryObject.strict()),
});
const MINUTE = 60_000;
const start = Date.now() - 60 * MINUTE;
/** Three endpoints of one tenant, and one of another's. */
const idEnding = (end: string) => `019a2f00-0000-7000-8000-0000000000${end}`;
const [one, two, three, foreign] = [idEnding("01"), idEnding("02"), idEnding("03"), idEnding("0f")] as const;
const [paid, sent] = [idAt(start), idAt(start)] as const;

type Row = {
  tenant: string;
  endpoint: string;
  event: string | null;
  type: string;
  trigger: string;
  status: string;
  answer: number | null;
  error: string | null;
  body: string | null;
  response: string | null;
};

/** The log, oldest first, a minute apart: named so that a filter's answer is a list of names. */
const LOG = {
  a: row({}),
  b: row({ endpoint: two, status: "failed", answer: 500, trigger: "auto_retry" }),
  c: row({ type: "invoice.sent", event: sent, status: "failed", answer: null, error: "timeout" }),
  d: row({ tenant: "globex", endpoint: foreign, status: "failed", answer: 500 }),
  e: row({
    endpoint: three,
    type: "invoice.line.added",
    event: null,
    trigger: "test",
    status: "test",
    answer: 404,
  }),
  f: row({
    type: "customer.created",
    event: null,
    trigger: "test",
    status: "failed",
    answer: null,
    error: "dns",
  }),
  g: row({ endpoint: two, response: '100% of "été" 😀', trigger: "retry", answer: 204 }),
};
type Name = keyof typeof LOG | "p";
const ids = new Map<string, Name>();
const idOf = (name: Name) => [...ids].find(([, known]) => known === name)?.[0] ?? "";

let service: TestService;

before(async () => {
  service = await startTestService();
  const { pool } = service.database;
  await pool.query(
    `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count) VALUES
      ('acme', $1, 'invoice.paid', '{"data":{"name":"Zoë"}}', 1), ('acme', $2, 'invoice.sent', '{"data":{}}', 1)`,
    [paid, sent],
  );
  for (const [place, [name, given]] of Object.entries(LOG).entries()) {
    const id = idAt(start + place * MINUTE);
    ids.set(id, z.enum(["a", "b", "c", "d", "e", "f", "g"]).parse(name));
    await pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, test_id, event_type, trigger, status, attempt,
          request_body, request_headers, response_status, response_body, latency_ms, error)
        VALUES ($1, $2, $3::uuid, $4, CASE WHEN $4::uuid IS NULL THEN $3::uuid END, $5, $6, $7, 1, $8, '{}', $9, $10, 1, $11)`,
      [
        given.tenant,
        given.endpoint,
        id,
        given.event,
        given.type,
        given.trigger,
        given.status,
        given.body,
        given.answer,
        given.response,
        given.error,
      ],
    );
  }
  const pending = idAt(start + 30 * MINUTE);
  ids.set(pending, "p");
  await pool.query(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, enabled, disabled_reason, created_at, updated_at)
      VALUES ('acme', $1, 'https://example.com/', '{*}', '', false, 'manual', now(), now())`,
    [one],
  );
  await pool.query(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, held)
      VALUES ('acme', $1, $2, $3, 'invoice.paid', 2, now(), now(), true)`,
    [one, pending, paid],
  );
});
after(() => service.stop());

function row(given: Partial<Row>): Row {
  return {
    tenant: "acme",
    endpoint: one,
    event: paid,
    type: "invoice.paid",
    trigger: "event",
    status: "delivered",
    answer: 200,
    error: null,
    body: null,
    response: null,
    ...given,
  };
}

const call = (query: string, options?: CallOptions) =>
  service.call("GET", `/api/deliveries${query}`, options);

async function search(query: string, options?: CallOptions) {
  const answer = await call(query, options);
  assert.equal(answer.status, 200, answer.text);
  return { ...searched.parse(answer.body), link: answer.headers.get("link") };
}

const namesOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => ids.get(id) ?? id).join("");
const at = (name: Name) =>
  new Date(Number.parseInt(idOf(name).replace("-", "").slice(0, 12), 16)).toISOString();

describe("GET /api/deliveries", () => {
  it("is for users with settings:read, members and read-only sessions included", async () => {
    const reader = { type: "user", tid: "acme", sub: "eve", permissions: ["settings:read"] };
    const nobody = { type: "user", tid: "acme", sub: "eve" };
    for (const as of [OWNER, MEMBER, reader]) assert.equal((await call("", { as })).status, 200);
    for (const as of [null, PRODUCER, { ...OWNER, tid: "" }]) {
      assertRefused(await call("?limit=0", { as }), REFUSED.unauthorized);
    }
    assertRefused(await call("?limit=0", { as: nobody }), REFUSED.forbidden);
    assertRefused(await service.call("POST", "/api/deliveries"), REFUSED.methodNotAllowed);
    assertRefused(await service.call("GET", "/api/deliveries/a/b"), REFUSED.notFound);
    assert.equal((await service.call("HEAD", "/api/deliveries")).status, 200);
    assert.equal((await service.call("GET", "/api/deliveries/")).status, 200);
  });

  it("lists all of a tenant's endpoints, newest first, without bodies, and nothing of another's", async () => {
    const { deliveries, searched_to, link } = await search("");
    assert.equal(namesOf(deliveries), "pgfecba");
    assert.deepEqual([searched_to, link], [null, null]);
    assert.ok(
      deliveries.every((delivery) => !("request_body" in delivery) && !("response_body" in delivery)),
    );
    assert.equal(namesOf((await search("", { as: OTHER_OWNER })).deliveries), "d");
  });

  it("shows with include=bodies what the endpoint's own list shows", async () => {
    const { deliveries } = await search(`?include=bodies&endpoint_id=${one}`);
    const list = await webhooksOf(service).deliveries(one);
    assert.deepEqual(deliveries, list);
    assert.equal(deliveryObject.parse(deliveries[0]).request_body, '{"data":{"name":"Zoë"}}');
  });

  const filters: [query: string, names: string][] = [
    ["status=pending", "p"],
    ["status=delivered", "ga"],
    ["status=failed", "fcb"],
    ["status=test", "e"],
    ["event_type=invoice.paid", "pgba"],
    ["event_type=invoice.*", "pgecba"],
    ["event_type=invoice", ""],
    ["event_type=invoice.line.*", "e"],
    ["event_type=*", ""],
    ["event_type=%25", ""],
    [`event_id=${paid}`, "pgba"],
    [`event_id=${paid}&status=pending`, "p"],
    [`event_id=${paid}&status=failed`, "b"],
    [`event_id=${paid}&endpoint_id=${two}`, "gb"],
    [`event_id=${UNKNOWN_ID}`, ""],
    ["event_id=no-id", ""],
    ["response_status=500", "b"],
    ["response_status=2xx", "ga"],
    ["response_status=4xx", "e"],
    ["response_status=none", "fc"],
    ["response_status=none&status=failed", "fc"],
    ["response_status=none&status=delivered", ""],
    ["response_status=none&status=pending", ""],
    ["error=timeout", "c"],
    ["error=nope", ""],
    ["trigger=auto_retry", "pb"],
    ["trigger=test", "fe"],
    ["trigger=retry", "g"],
    ["q=Zo%C3%AB", "pgba"],
    ["q=zo%C3%AB", ""],
    ["q=100%25+of", "g"],
    ["q=%F0%9F%98%80", "g"],
    ["q=Zo%C3%AB&status=failed", "b"],
    ["q=_", ""],
    [`endpoint_id=${two}`, "gb"],
    [`endpoint_id=${two}&endpoint_id=${three}`, "geb"],
    [`endpoint_id=${two}&endpoint_id=${two}&status=failed`, "b"],
    [`endpoint_id=${foreign}`, ""],
    [`endpoint_id=${foreign}&endpoint_id=no-id&endpoint_id=${three}`, "e"],
    ["endpoint_id=no-id", ""],
    ["status=failed&event_type=customer.created&trigger=test&error=dns&response_status=none", "f"],
  ];
  for (const [query, names] of filters) {
    it(`filters by ${decodeURIComponent(query)}`, async () => {
      const { deliveries, searched_to } = await search(`?${query}`);
      assert.equal(namesOf(deliveries), names);
      assert.equal(searched_to, null);
    });
  }

  it("takes from as inclusive, to, before and after as exclusive", async () => {
    const expected: [string, string][] = [
      [`from=${at("f")}`, "pgf"],
      [`to=${at("c")}`, "ba"],
      [`from=${at("c")}&to=${at("f")}`, "ec"],
      [`from=${at("f")}&to=${at("c")}`, ""],
      [`before=${idOf("c")}`, "ba"],
      [`after=${idOf("e")}`, "pgf"],
      [`after=${idOf("b")}&before=${idOf("f")}`, "ec"],
      [`after=${idOf("f")}&before=${idOf("b")}`, ""],
      [`after=${idOf("p")}`, ""],
      // Another tenant's delivery is a place in time like any other.
      [`before=${idOf("d")}`, "cba"],
      ["after=ffffffff-ffff-ffff-ffff-ffffffffffff", ""],
    ];
    for (const [query, names] of expected) {
      assert.equal(namesOf((await search(`?${query}`)).deliveries), names, query);
    }
  });

  it("leads from page to page by Link, with the same filters", async () => {
    const seen: string[] = [];
    let path: string | undefined = `?limit=2&event_type=invoice.*&after=${idOf("a")}`;
    while (path !== undefined) {
      const { deliveries, link, searched_to } = await search(path);
      seen.push(namesOf(deliveries));
      path = /^<\S*\/api\/deliveries(\?\S+)>; rel="next"$/.exec(link ?? "")?.[1];
      assert.equal(path === undefined, searched_to === null);
      if (path !== undefined) assert.equal(searched_to, deliveries.at(-1)?.created_at);
    }
    assert.deepEqual(seen, ["pg", "ec", "b"]);
  });

  const invalid: [string, string][] = [
    ["status=sent", "status"],
    ["from=2026-01-31", "from"],
    ["to=2026-01-31", "to"],
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["before=x", "before"],
    ["after=x", "after"],
    [`after=${UNKNOWN_ID.toUpperCase()}A`, "after"],
    ["response_status=5x", "response_status"],
    ["response_status=099", "response_status"],
    ["error=", "error"],
    ["trigger=person", "trigger"],
    ["include=headers", "include"],
    ["event_type=a%00b", "event_type"],
    ["event_type=", "event_type"],
    ["q=", "q"],
    ["q=a%00", "q"],
    [`q=${"x".repeat(257)}`, "q"],
    [`q=${encodeURIComponent("😀".repeat(257))}`, "q"],
    [Array.from({ length: 21 }, () => `endpoint_id=${UNKNOWN_ID}`).join("&"), "endpoint_id"],
    ["page=1", ""],
    ["stauts=failed", "stauts"],
    ["colour=red", ""],
  ];
  for (const [query, path] of invalid) {
    it(`answers Invalid query to ${query.slice(0, 60)}`, async () => {
      assert.deepEqual(Object.keys(issuesOf(await call(`?${query}`), "Invalid query")), [path]);
    });
  }

  it("takes 256 characters of text and 20 endpoints", async () => {
    const text = encodeURIComponent("😀".repeat(256));
    assert.deepEqual((await search(`?q=${text}`)).deliveries, []);
    const many = Array.from({ length: 20 }, () => `endpoint_id=${three}`).join("&");
    assert.equal(namesOf((await search(`?${many}`)).deliveries), "e");
  });
});

describe("the same filters on an endpoint's own list", () => {
  it("answer the specification's object, with bodies, and ignore what is unknown", async () => {
    const webhooks = webhooksOf(service);
    const expected: [string, string][] = [
      ["response_status=2xx", "a"],
      ["response_status=none", "fc"],
      ["error=dns", "f"],
      ["trigger=auto_retry", "p"],
      ["event_type=invoice.*", "pca"],
      ["q=Zo%C3%AB", "pa"],
      [`after=${idOf("c")}`, "pf"],
      ["colour=red&include=x&endpoint_id=x", "pfca"],
      ["event_type=invoice.*&limit=2&page=2", "a"],
    ];
    for (const [query, names] of expected) {
      assert.equal(namesOf(await webhooks.deliveries(one, `?${query}`)), names, query);
    }
    assert.equal(namesOf(await webhooks.deliveries(foreign, "?response_status=5xx")), "");
  });
});

describe("a search that does not reach the log's end", () => {
  const endpoint = "019a2f00-0000-7000-8000-000000000009";
  const as = { ...OWNER, tid: "initech" };

  const SAME = { type: ["invoice.paid", "invoice.paid"], status: ["delivered", "delivered"], body: ["", ""] };
  /** 12,000 rows of a tenant. The oldest has the second of each pair. */
  const addMany = (tenant: string, { type, status, body }: typeof SAME) =>
    service.database.pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, test_id, event_type, trigger, status, attempt,
          request_headers, latency_ms, response_body)
        SELECT $1, $2, overlay(postern.lowest_id_at(now() - n * interval '1 second')::text
            placing '7' || right(gen_random_uuid()::text, 21) from 15)::uuid, gen_random_uuid(),
          ($3::text[])[1 + n / 12000], 'test', ($4::text[])[1 + n / 12000], 1, '{}', 1, ($5::text[])[1 + n / 12000]
        FROM generate_series(1, 12000) n`,
      [tenant, endpoint, type, status, body],
    );

  before(async () => {
    await addMany("initech", { ...SAME, type: ["invoice.paid", "invoice.rare"], body: ["hay", "needle"] });
  });

  for (const query of ["event_type=invoice.rare", "q=needle", "event_type=invoice.rare&status=delivered"]) {
    it(`answers how far it came, and goes on from there: ${query}`, async () => {
      let path: string | undefined = `?${query}`;
      const steps: number[] = [];
      for (; path !== undefined;) {
        const found = await search(path, { as });
        steps.push(found.deliveries.length);
        path = /^<\S*\/api\/deliveries(\?\S+)>; rel="next"$/.exec(found.link ?? "")?.[1];
        assert.equal(path === undefined, found.searched_to === null);
      }
      assert.deepEqual(steps, [0, 0, 1]);
    });
  }

  it("tells that on an endpoint's list by the header Searched-To", async () => {
    const list = `/api/webhooks/${endpoint}/deliveries`;
    const rare = await service.call("GET", `${list}?event_type=invoice.rare`, { as });
    assert.deepEqual(rare.body, { deliveries: [] });
    assert.match(rare.headers.get("searched-to") ?? "", /^\d{4}-.*Z$/);
    assert.match(
      rare.headers.get("link") ?? "",
      /event_type=invoice\.rare&before=[0-9a-f-]{36}>; rel="next"$/,
    );
    const exact = await service.call("GET", `${list}?status=delivered&page=240`, { as });
    assert.equal(Object(exact.body).deliveries.length, 50);
    assert.equal(exact.headers.get("searched-to"), null);
  });

  it("looks for what was delivered among any number of failures", async () => {
    const asked = { as: { ...OWNER, tid: "umbrella" } };
    await addMany("umbrella", { ...SAME, status: ["failed", "delivered"] });
    let path: string | undefined = `/api/webhooks/${endpoint}/deliveries?status=delivered`;
    const steps: number[] = [];
    for (; path !== undefined;) {
      const found = await service.call("GET", path, asked);
      steps.push(Object(found.body).deliveries.length);
      path = /^<[^>]*(\/api\/webhooks[^>]+)>; rel="next"$/.exec(found.headers.get("link") ?? "")?.[1];
      assert.equal(path === undefined, found.headers.get("searched-to") === null);
    }
    assert.deepEqual(steps, [0, 0, 1]);
  });

  it("stops at 16 MiB of bodies", async () => {
    await service.database.pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, test_id, event_type, trigger, status, attempt,
          request_headers, latency_ms, request_body)
        SELECT 'hooli', $1, postern.uuid_v7(), gen_random_uuid(), 'invoice.paid', 'test', 'test', 1, '{}', 1,
          repeat('x', 1048576) FROM generate_series(1, 20) n`,
      [endpoint],
    );
    const owner = { as: { ...OWNER, tid: "hooli" } };
    const found = await search("?q=needle", owner);
    assert.deepEqual(found.deliveries, []);
    assert.ok(found.searched_to !== null && found.link !== null);
    const next = await search(/(\?\S+)>/.exec(found.link)?.[1] ?? "", owner);
    assert.deepEqual([next.deliveries, next.searched_to], [[], null]);
  });
});
