/** What the form of an endpoint sets, and what it leaves alone. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  changesOf,
  draftOf,
  hasMore,
  inputOf,
  isRate,
  keptOf,
  lostPair,
} from "../src/endpoints/endpoint-input.ts";
import { catalogFile } from "./support/event-catalog.ts";
import { codeUrl, describePortal, type Portal } from "./support/portal.ts";
import { addEndpoint, endpointsOf } from "./support/tenant.ts";

const HEADERS = {
  authorization: "Bearer secret-of-the-receiver",
  "x-key": "another-secret",
  "x-team": "books",
};

/** The headers of a test that is sent now. */
async function sentHeaders(portal: Portal, id: string) {
  const json = { event_type: "customer.merged" };
  const { status, text } = await portal.service.call("POST", `/api/webhooks/${id}/test`, { json });
  assert.equal(status, 200, text);
  const { headers } = portal.service.receiver.requests.at(-1) ?? {};
  assert.ok(headers !== undefined);
  return { authorization: headers.authorization, "x-key": headers["x-key"], "x-team": headers["x-team"] };
}

describePortal(
  "the portal's form of an endpoint",
  { env: { EVENT_CATALOG: catalogFile(), RATE_LIMIT_WRITES: "0" } },
  (portal) => {
    it("sends what was changed alone: what others change stays, and types that left the catalog", async () => {
      const { id } = await addEndpoint(portal(), "acme", "/changed", {
        events: ["customer.*"],
        headers: { "x-key": HEADERS["x-key"] },
        masked_headers: ["x-key"],
      });
      const { service } = portal();
      await service.database.pool.query(
        "UPDATE postern.endpoints SET events = '{customer.*,customer.left}' WHERE id = $1",
        [id],
      );
      const { page, inspect } = await portal().open(`/endpoints/${id}/edit`);
      await page.getByLabel("Description").fill("Changed");
      await inspect("endpoint-edit");
      const url = new URL("/elsewhere", service.receiver.url).href;
      const json = { url, rate_limit: 7, headers: HEADERS, metadata: { plan: "gold" } };
      const { status, text } = await service.call("PATCH", `/api/webhooks/${id}`, { json });
      assert.equal(status, 200, text);
      const before = (await endpointsOf(portal(), "acme")).find((endpoint) => endpoint.id === id);
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("The endpoint is saved").waitFor();
      const after = (await endpointsOf(portal(), "acme")).find((endpoint) => endpoint.id === id);
      assert.deepEqual(before?.events, ["customer.*", "customer.left"]);
      assert.deepEqual(after, { ...before, description: "Changed", updated_at: after?.updated_at });
      assert.deepEqual(await sentHeaders(portal(), id), HEADERS);
    });

    it("keeps the event types, headers and metadata that another person added meanwhile", async () => {
      const { id, ...made } = await addEndpoint(portal(), "acme", "/shared", {
        events: ["customer.*"],
        headers: { "x-team": "books", "x-old": "1" },
        metadata: { plan: "gold" },
      });
      const { page } = await portal().open(`/endpoints/${id}/edit`);
      await page.getByLabel("order.shipped").check();
      await page.getByRole("button", { name: "Remove header x-old" }).click();
      await page.getByRole("button", { name: "Add metadata" }).click();
      const metadata = page.getByRole("group", { name: "Metadata" });
      await metadata.getByLabel("Name").nth(1).fill("owner");
      await metadata.getByLabel("Value").nth(1).fill("ada");
      const json = {
        events: ["customer.*", "order.placed"],
        headers: { ...made.headers, "x-key": HEADERS["x-key"] },
        masked_headers: ["x-key"],
        metadata: { ...made.metadata, region: "eu" },
      };
      const { status, text } = await portal().service.call("PATCH", `/api/webhooks/${id}`, { json });
      assert.equal(status, 200, text);
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("The endpoint is saved").waitFor();
      const after = (await endpointsOf(portal(), "acme")).find((endpoint) => endpoint.id === id);
      assert.deepEqual(after?.events, ["customer.*", "order.placed", "order.shipped"]);
      assert.deepEqual(after.headers, { "x-team": "books", "x-key": "[masked]" });
      assert.deepEqual(after.metadata, { plan: "gold", region: "eu", owner: "ada" });
    });

    it("names the header that was refused, and asks to look where no answer came", async () => {
      const { id } = await addEndpoint(portal(), "acme", "/refused-header", {
        events: ["customer.*"],
        headers: { "x-team": "books" },
      });
      const { page, inspect } = await portal().open(`/endpoints/${id}/edit`, { expects: /400|ERR_FAILED/ });
      await page.getByRole("button", { name: "Add header" }).click();
      const headers = page.getByRole("group", { name: "Extra headers" });
      await headers.getByLabel("Name").nth(1).fill("x-team");
      await page.getByRole("button", { name: "Save" }).click();
      await headers.getByText("each name is given once").waitFor();
      await inspect("endpoint-pair-lost");
      await headers.getByLabel("Name").nth(1).fill("Host");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Host: the service sets this header itself").waitFor();
      await page.route("**/api/webhooks/*", (route) =>
        route.request().method() === "PATCH" ? route.abort() : route.continue(),
      );
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("A change may have been made all the same").waitFor();
    });

    it("keeps masked headers whose names are written in another case", async () => {
      const { id } = await addEndpoint(portal(), "acme", "/mixed-case", {
        events: ["customer.*"],
        headers: { Authorization: HEADERS.authorization, "x-key": HEADERS["x-key"], "X-Team": "books" },
        masked_headers: ["X-Key", "AUTHORIZATION", "x-team"],
      });
      const { page } = await portal().open(`/endpoints/${id}/edit`);
      const isSecret = page.getByLabel("Secret", { exact: true });
      await isSecret.nth(2).waitFor();
      for (const row of await isSecret.all()) assert.ok(await row.isChecked());
      const values = page.getByRole("group", { name: "Extra headers" }).getByLabel("Value");
      await values.nth(2).fill("films");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("The endpoint is saved").waitFor();
      const after = (await endpointsOf(portal(), "acme")).find((endpoint) => endpoint.id === id);
      assert.deepEqual(after?.headers, {
        Authorization: "[masked]",
        "x-key": "[masked]",
        "X-Team": "[masked]",
      });
      assert.deepEqual(after.masked_headers, ["X-Key", "AUTHORIZATION", "x-team"]);
      assert.deepEqual(await sentHeaders(portal(), id), { ...HEADERS, "x-team": "films" });
    });

    it("sets mode, rate limit, headers and metadata, and shows them", async () => {
      const { page, inspect } = await portal().open("/endpoints/new", { grant: { tenant_id: "more" } });
      await page
        .getByLabel("URL", { exact: true })
        .fill(new URL("/pulled", portal().service.receiver.url).href);
      await page.getByLabel("Everything of customer").check();
      await page.getByText("More settings").click();
      await page.locator("label", { hasText: "Fetched by a client" }).click();
      await page.getByText("Events wait until a program of yours fetches them").waitFor();
      await page.getByLabel("Rate limit").fill("5");
      await page.getByRole("button", { name: "Add header" }).click();
      await page.getByRole("group", { name: "Extra headers" }).getByLabel("Name").fill("X-Key");
      await page.getByRole("group", { name: "Extra headers" }).getByLabel("Value").fill("hidden");
      await page.getByLabel("Secret", { exact: true }).check();
      await page.getByRole("button", { name: "Add metadata" }).click();
      const metadata = page.getByRole("group", { name: "Metadata" });
      await metadata.getByLabel("Name").fill("customer");
      await metadata.getByLabel("Value").fill("<b>7</b>");
      await inspect("endpoint-more");
      await page.getByRole("button", { name: "Create endpoint" }).click();
      await page.getByRole("button", { name: "I have stored it" }).click();
      await page.getByRole("heading", { level: 1, name: /pulled$/ }).waitFor();
      const [made] = await endpointsOf(portal(), "more");
      assert.equal(made?.mode, "pull");
      assert.equal(made.rate_limit, 5);
      assert.deepEqual(made.headers, { "X-Key": "[masked]" });
      assert.deepEqual(made.metadata, { customer: "<b>7</b>" });
      await page.getByText(`POST /api/webhooks/${made.id}/leases`).waitFor();
      await page.getByText("<b>7</b>").waitFor();
      await inspect("endpoint-pull");
    });

    it("offers each version of a type beside the type itself", async () => {
      const { page, inspect } = await portal().open("/endpoints/new", { grant: { tenant_id: "versions" } });
      await page
        .getByLabel("URL", { exact: true })
        .fill(new URL("/versions", portal().service.receiver.url).href);
      await page.getByLabel("Search event types").fill("placed");
      await page.getByLabel("order.placed@1").check();
      await inspect("endpoint-versions");
      await page.getByRole("button", { name: "Create endpoint" }).click();
      await page.getByRole("button", { name: "I have stored it" }).waitFor();
      const [made] = await endpointsOf(portal(), "versions");
      assert.deepEqual(made?.events, ["order.placed@1"]);
    });

    it("still has what was typed after the session ended, but for secrets, until one discards it or signs out", async () => {
      const grant = { tenant_id: "drafts" };
      const { service } = portal();
      const { page, inspect } = await portal().open("/endpoints/new", { grant, expects: /status of 401/ });
      await page.getByLabel("Description").fill("Typed for long");
      await page.getByText("More settings").click();
      await page.getByRole("button", { name: "Add header" }).click();
      await page.getByRole("group", { name: "Extra headers" }).getByLabel("Name").fill("Authorization");
      await page.getByRole("group", { name: "Extra headers" }).getByLabel("Value").fill("Bearer hidden");
      const token: unknown = await page.evaluate(
        'JSON.parse(sessionStorage.getItem("postern.session")).token',
      );
      const headers = { authorization: `Bearer ${String(token)}` };
      await service.call("DELETE", "/api/portal/sessions", { as: null, headers });
      await page.getByRole("link", { name: "Deliveries" }).click();
      await page.getByText("Your session has ended").waitFor();
      assert.doesNotMatch(String(await page.evaluate("JSON.stringify(sessionStorage)")), /hidden/);
      await page.goto(await codeUrl(service, "/endpoints/new", grant));
      await page.getByText("did not save is back").waitFor();
      assert.equal(await page.getByLabel("Description").inputValue(), "Typed for long");
      assert.equal(await page.getByRole("group", { name: "Extra headers" }).getByLabel("Value").count(), 0);
      await inspect("endpoint-draft");
      await page.getByRole("button", { name: "Discard" }).click();
      assert.equal(await page.getByLabel("Description").inputValue(), "");
      await page.getByLabel("Description").fill("Typed again");
      await page.reload();
      await page.getByText("did not save is back").waitFor();
      assert.equal(await page.getByLabel("Description").inputValue(), "Typed again");
      await page.getByRole("button", { name: "Display, sign out" }).click();
      await page.getByRole("menuitem", { name: "Sign out" }).click();
      await page.getByText("You are signed out").waitFor();
      assert.doesNotMatch(String(await page.evaluate("JSON.stringify(sessionStorage)")), /Typed/);
    });

    it("begins with the endpoint as it is now, not as a page showed it before", async () => {
      const { id } = await addEndpoint(portal(), "acme", "/changed-since", { events: ["customer.*"] });
      const { page } = await portal().open(`/endpoints/${id}`);
      await page.getByRole("link", { name: "Edit" }).waitFor();
      const json = { description: "By another person" };
      const { status, text } = await portal().service.call("PATCH", `/api/webhooks/${id}`, { json });
      assert.equal(status, 200, text);
      await page.getByRole("link", { name: "Edit" }).click();
      assert.equal(await page.getByLabel("Description").inputValue(), "By another person");
    });

    it("forgets what was typed once it is saved", async () => {
      const { id } = await addEndpoint(portal(), "acme", "/saved-draft", { events: ["customer.*"] });
      const { page } = await portal().open(`/endpoints/${id}/edit`);
      await page.getByLabel("Description").fill("Saved");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("The endpoint is saved").waitFor();
      // Before the page that it leads to has asked for the endpoint again.
      await page.getByRole("link", { name: "Edit" }).click();
      await page.getByLabel("Description").waitFor();
      assert.equal(await page.getByText("did not save is back").count(), 0);
      assert.equal(await page.getByLabel("Description").inputValue(), "Saved");
    });

    it("says what the service refused, and keeps what was filled in", async () => {
      const { page, inspect } = await portal().open("/endpoints/new", {
        grant: { tenant_id: "refused" },
        expects: /400 \(Bad Request\)/,
      });
      await page.getByLabel("URL", { exact: true }).fill("https://10.0.0.1/hooks");
      await page.getByLabel("All events").check();
      await page.getByRole("button", { name: "Create endpoint" }).click();
      await page.getByRole("alert").filter({ hasText: "The service refused this" }).waitFor();
      await inspect("endpoint-refused");
      assert.equal(await page.getByLabel("URL", { exact: true }).inputValue(), "https://10.0.0.1/hooks");
      assert.equal((await endpointsOf(portal(), "refused")).length, 0);
    });
  },
);

describe("the changes of an endpoint", () => {
  const first = {
    ...inputOf(null),
    url: "https://example.com/",
    events: ["b.*", "a.*"],
    headers: [
      { key: 0, name: "X-Key", value: "[masked]", isSecret: true },
      { key: 1, name: "X-Team", value: "books", isSecret: false },
    ],
    metadata: [{ key: 0, name: "plan", value: "gold", isSecret: false }],
  };
  const changed = (change: Partial<typeof first>) => changesOf(first, { ...first, ...change }, first);

  it("are nothing where all is as it was, written otherwise or not", () => {
    assert.deepEqual(changed({}), {});
    assert.deepEqual(
      changed({ url: " https://example.com/ ", description: " ", events: ["a.*", "b.*"] }),
      {},
    );
  });

  it("are each member that differs, whole", () => {
    assert.deepEqual(changed({ url: "https://example.com/b" }), { url: "https://example.com/b" });
    assert.deepEqual(changed({ description: "b" }), { description: "b" });
    assert.deepEqual(changed({ events: ["a.*"] }), { events: ["a.*"] });
    assert.deepEqual(changed({ mode: "pull" }), { mode: "pull" });
    assert.deepEqual(changed({ rate: "5" }), { rate_limit: 5 });
    assert.deepEqual(changed({ metadata: [] }), { metadata: {} });
    const [key, team] = first.headers;
    assert.ok(key !== undefined && team !== undefined);
    assert.deepEqual(changed({ headers: [key] }), { headers: { "X-Key": "[masked]" } });
    assert.deepEqual(changed({ headers: [key, { ...team, isSecret: true }] }), {
      masked_headers: ["x-key", "x-team"],
    });
    assert.deepEqual(changed({ headers: [team] }), { headers: { "X-Team": "books" }, masked_headers: [] });
    const before = { ...first, description: "a", rate: "5" };
    assert.deepEqual(changesOf(before, first, before), { description: null, rate_limit: null });
  });

  it("leave items of lists and named values that others changed meanwhile", () => {
    const { headers, metadata } = first;
    const [key, team] = headers;
    assert.ok(key !== undefined && team !== undefined);
    const other = { key: 2, name: "X-Other", value: "o", isSecret: true };
    const current = { ...first, events: ["c.*", "b.*"], headers: [{ ...team, value: "films" }, other] };
    const input = {
      ...first,
      events: ["a.*", "b.*", "d.*"],
      headers: [key, team, { key: 3, name: "X-Own", value: "i", isSecret: true }],
    };
    assert.deepEqual(changesOf(first, input, current), {
      events: ["c.*", "b.*", "d.*"],
      headers: { "X-Team": "films", "X-Other": "o", "X-Own": "i" },
      masked_headers: ["x-other", "x-own"],
    });
    assert.deepEqual(changesOf(first, { ...first, metadata: [] }, { ...current, metadata }), {
      metadata: {},
    });
  });

  it("keep a header secret that another person removed meanwhile", () => {
    const [key, team] = first.headers;
    assert.ok(key !== undefined && team !== undefined);
    const input = { ...first, headers: [{ ...key, value: "typed" }, team] };
    assert.deepEqual(changesOf(first, input, { ...first, headers: [team] }), {
      headers: { "X-Team": "books", "X-Key": "typed" },
      masked_headers: ["x-key"],
    });
  });
});

const pair = (key: number, name: string, value: string, isSecret = false) => ({ key, name, value, isSecret });

describe("what an endpoint's form keeps and refuses", () => {
  const first = {
    ...inputOf(null),
    url: "https://example.com/",
    headers: [pair(0, "X-Key", "[masked]", true), pair(1, "X-Team", "books")],
  };
  const [key, team] = first.headers;
  assert.ok(key !== undefined && team !== undefined);

  it("keeps what was typed, but no secret: one that was there is as it was, and a new one is gone", () => {
    const headers = [
      { ...key, value: "typed" },
      { ...team, value: "films" },
      pair(2, "X-New", "typed", true),
      pair(3, " authorization", "typed"),
    ];
    const kept = keptOf({ first, input: { ...first, headers } });
    assert.deepEqual(kept?.input.headers, [key, { ...team, value: "films" }]);
    assert.deepEqual(draftOf(JSON.parse(JSON.stringify(kept))), kept);
  });

  it("keeps nothing where only secrets differ, or nothing", () => {
    assert.equal(keptOf({ first, input: first }), null);
    assert.equal(keptOf({ first, input: { ...first, headers: [{ ...key, value: "typed" }, team] } }), null);
  });

  it("takes no draft that lacks a member, or has one of another kind", () => {
    const { mode: _mode, ...older } = first;
    for (const other of [
      null,
      "draft",
      {},
      { first },
      { first, input: older },
      { first: older, input: first },
    ])
      assert.equal(draftOf(other), null, JSON.stringify(other));
    assert.equal(draftOf({ first, input: { ...first, headers: {} } }), null);
    assert.deepEqual(draftOf({ first, input: first }), { first, input: first });
  });

  it("names the first pair that the request would lose", () => {
    const [a, b] = [pair(0, "a", "1"), pair(1, "b", "2")];
    assert.equal(lostPair([a, b, pair(2, " ", "")]), undefined);
    assert.equal(lostPair([a, pair(2, " ", "3"), pair(3, "a", "4")])?.key, 2);
    assert.equal(lostPair([a, b, pair(2, " a ", "3")])?.key, 2);
  });

  it("takes a rate of 1 to 999,999,999, or none", () => {
    for (const rate of ["", " ", "1", " 20 ", "999999999"]) assert.ok(isRate(rate), rate);
    for (const rate of ["0", "-1", "1.5", "1e3", "1000000000", "ten"]) assert.ok(!isRate(rate), rate);
  });

  it("shows at once what most endpoints do not set, where it is set", () => {
    assert.equal(hasMore(inputOf(null)), false);
    for (const more of [{ mode: "pull" as const }, { rate: "5" }, { headers: [team] }, { metadata: [team] }])
      assert.ok(hasMore({ ...inputOf(null), ...more }));
  });
});
