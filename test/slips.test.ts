/** Members and parameters that were most likely meant to be others: refused, and nothing is changed. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { MEMBER, OTHER_OWNER, PRODUCER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  issuesOf,
  REFUSED,
  UNKNOWN_ID,
  webhooksOf,
  type Webhooks,
} from "./support/webhooks.ts";

let service: TestService;
let webhooks: Webhooks;

before(async () => {
  service = await startTestService();
  webhooks = webhooksOf(service);
});
after(() => service.stop());

const publish = (json: unknown) => service.call("POST", "/api/events", { as: PRODUCER, json });

const didYouMean = (name: string): string => `did you mean "${name}"?`;

describe("A slip of a member", () => {
  const slips: [Record<string, unknown>, string][] = [
    [{ event: ["invoice.paid"] }, "events"],
    [{ Events: ["invoice.paid"] }, "events"],
    [{ evnets: ["invoice.paid"] }, "events"],
    [{ event_types: ["invoice.paid"] }, "events"],
    [{ filterTypes: ["invoice.paid"] }, "events"],
    [{ enabled_events: ["invoice.paid"] }, "events"],
    [{ topics: ["invoice.paid"] }, "events"],
    [{ active: false }, "enabled"],
    [{ disabled: true }, "enabled"],
    [{ rateLimit: 5 }, "rate_limit"],
    [{ "rate-limit": 5 }, "rate_limit"],
    [{ signing_secret: "x" }, "secret"],
    [{ header: {} }, "headers"],
  ];
  for (const [slip, meant] of slips) {
    const [name = ""] = Object.keys(slip);
    it(`is refused on create: ${name}`, async () => {
      const before = await webhooks.list();
      const json = { url: service.receiver.url, ...slip };
      assert.deepEqual(issuesOf(await webhooks.call("POST", "", { json })), { [name]: didYouMean(meant) });
      assert.deepEqual(await webhooks.list(), before);
    });
  }

  it("is refused on update, also beside the right one, and changes nothing", async () => {
    const { endpoint } = await webhooks.create({ events: ["invoice.paid"] });
    for (const json of [
      { event: ["customer.*"] },
      { events: ["customer.*"], Event: [] },
      { enabledd: false },
    ]) {
      const answer = await webhooks.call("PATCH", `/${endpoint.id}`, { json: { description: "x", ...json } });
      assert.equal(answer.status, 400, answer.text);
      const { issues } = z.object({ issues: z.array(z.object({ code: z.string() })) }).parse(answer.body);
      assert.deepEqual(
        issues.map(({ code }) => code),
        ["did_you_mean"],
      );
    }
    assert.deepEqual((await webhooks.detail(endpoint.id)).endpoint, endpoint);
  });

  it("is told with what else is wrong", async () => {
    const answer = await webhooks.call("POST", "", { json: { url: 7, event: [] } });
    assert.deepEqual(Object.keys(issuesOf(answer)), ["event", "url"]);
  });

  it("is refused on rotate-secret after the role and before the lookup, and on a test", async () => {
    const rotate = (as: typeof MEMBER) =>
      webhooks.call("POST", `/${UNKNOWN_ID}/rotate-secret`, { as, json: { graceSeconds: 60 } });
    assertRefused(await rotate(MEMBER), REFUSED.forbidden);
    assert.deepEqual(issuesOf(await rotate(OTHER_OWNER)), { graceSeconds: didYouMean("grace_seconds") });
    const test = await webhooks.call("POST", `/${UNKNOWN_ID}/test`, {
      json: { event_type: "invoice.paid", eventType: "invoice.paid" },
    });
    assert.deepEqual(issuesOf(test), { eventType: didYouMean("event_type") });
  });

  it("is no slip where the endpoint itself has such a member: it is sent back as it was read", async () => {
    const { endpoint } = await webhooks.create({ description: "as read" });
    const again = await webhooks.update(endpoint.id, endpoint);
    assert.deepEqual({ ...again, updated_at: "" }, { ...endpoint, updated_at: "" });
    await webhooks.create({ ...endpoint, url: service.receiver.url });
  });

  it("ignores every other unknown member, and never looks into maps", async () => {
    const metadata = { event: "a", Events: "b" };
    const { endpoint } = await webhooks.create({ metadata, headers: { event: "c" }, tag: "t", uid: 7, _: 1 });
    assert.deepEqual(endpoint.metadata, metadata);
    assert.deepEqual(endpoint.events, ["*"]);
  });

  it("is found in a body with a hundred thousand of them, within a moment", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 60_000 }, (_, index) => [`event_${index % 10}${index}`, 0]),
    );
    const answer = await webhooks.call("POST", "", { json: { ...many, EVENTS: [] } });
    assert.equal(answer.status, 400);
  });
});

describe("A slip on publishing", () => {
  it("is refused with the right name, and so is any other unknown member; data are never looked into", async () => {
    const event = { type: "invoice.paid", data: { Type: 1, id_: 2 } };
    assert.equal((await publish(event)).status, 202);
    assert.deepEqual(issuesOf(await publish({ ...event, tenantId: "acme" })), {
      tenantId: didYouMean("tenant_id"),
    });
    assert.deepEqual(issuesOf(await publish([event, { ...event, idempotency_key: "1" }])), {
      "1.idempotency_key": didYouMean("id"),
    });
    assert.deepEqual(Object.keys(issuesOf(await publish([{ ...event, colour: 1 }]))), ["0"]);
  });
});

describe("A slip of a query parameter", () => {
  const lists = [`/api/webhooks/${UNKNOWN_ID}/deliveries`, "/api/deliveries"];
  for (const path of lists) {
    it(`is Invalid query on ${path}`, async () => {
      for (const [query, name, meant] of [
        ["form=2026-01-01T00:00:00Z", "form", "from"],
        ["Limit=2", "Limit", "limit"],
        ["eventType=invoice.paid", "eventType", "event_type"],
        ["stauts=failed&limit=5", "stauts", "status"],
        ["beofre=x", "beofre", "before"],
      ] as const) {
        const answer = await service.call("GET", `${path}?${query}`);
        assert.deepEqual(issuesOf(answer, "Invalid query"), { [name]: didYouMean(meant) }, query);
      }
    });
  }

  it("leaves short and other unknown parameters alone on the specification's routes", async () => {
    const answer = await service.call("GET", `${lists[0]}?_=1&t=2&v=3&ts=4&utm_source=x`);
    assert.deepEqual([answer.status, answer.body], [200, { deliveries: [] }], answer.text);
  });

  it("refuses every unknown parameter on routes of our own", async () => {
    for (const path of ["/api/deliveries", "/api/audit", "/api/storage/library", "/api/storage/exports"]) {
      const answer = await service.call("GET", `${path}?colour=red`);
      assert.deepEqual(Object.keys(issuesOf(answer, "Invalid query")), [""], path);
    }
  });
});
