/** The list of endpoints, and what one does with an endpoint: add, change, enable, disable, delete. */
import assert from "node:assert/strict";
import { it } from "node:test";
import * as z from "zod";
import { eventually } from "../../test/support/eventually.ts";
import { describePortal } from "./support/portal.ts";
import { addEndpoint, deliveriesOf, endpointsOf, publish } from "./support/tenant.ts";

describePortal(
  "the portal's endpoints",
  {
    respond: ({ path }) => ({ status: path === "/fails" ? 500 : 200 }),
    env: { RETRY_SCHEDULE: "0s", MAX_ENDPOINTS_PER_TENANT: "2000", RATE_LIMIT_WRITES: "0" },
  },
  (portal) => {
    it("says what to do where there is no endpoint yet", async () => {
      const { page, inspect } = await portal().open("/endpoints", { grant: { tenant_id: "empty" } });
      await page.getByText("No endpoint yet").waitFor();
      assert.equal(await page.title(), "Endpoints · Webhooks");
      await inspect("endpoints-empty");
    });

    it("adds one whose URL is checked while one types, and shows its secret once", async () => {
      const { page, inspect } = await portal().open("/endpoints");
      await page.getByRole("link", { name: "Add endpoint" }).first().click();
      const url = page.getByLabel("URL", { exact: true });
      await url.fill("http://10.0.0.1/hooks");
      await page.getByText("It must begin with https://").waitFor();
      await url.fill(new URL("/works", portal().service.receiver.url).href);
      await page.getByText("This URL may be used.").waitFor();
      await page.getByLabel("Description").fill("Books invoices");
      await page.getByRole("button", { name: "Create endpoint" }).click();
      await page.getByRole("alert").filter({ hasText: "Choose at least one." }).waitFor();
      await page.getByLabel("Search event types").fill("invoice");
      await page.getByLabel("Everything of invoice").check();
      await inspect("endpoint-new");
      await page.getByRole("button", { name: "Create endpoint" }).click();
      const secret = await page.getByLabel("Signing secret", { exact: true }).textContent();
      assert.match(secret ?? "", /^whsec_/);
      // A mistaken Escape must not hide what is shown once.
      await page.keyboard.press("Escape");
      await inspect("endpoint-secret");
      await page.getByRole("button", { name: "I have stored it" }).click();
      await page.getByRole("heading", { level: 1, name: /works$/ }).waitFor();
      const [endpoint] = await endpointsOf(portal(), "acme");
      assert.deepEqual(endpoint?.events, ["invoice.*"]);
      assert.equal(endpoint?.description, "Books invoices");
      assert.ok(!(await page.content()).includes(secret ?? ""));
      await inspect("endpoint");
    });

    it("leads to the first fault of a form", async () => {
      const { page } = await portal().open("/endpoints/new", { size: "phone" });
      const isInSight = `(() => {
        const { x, y } = document.activeElement.getBoundingClientRect();
        return document.elementFromPoint(x + 9, y + 9) === document.activeElement;
      })()`;
      const focused = () => page.evaluate("document.activeElement.name");
      await page.getByRole("button", { name: "Create endpoint" }).click();
      await eventually(async () => (await focused()) === "url");
      await eventually(async () => (await page.evaluate(isInSight)) === true);
      await page.getByText("More settings").click();
      await page.getByLabel("Rate limit").fill("many");
      await page.getByText("More settings").click();
      await page.getByLabel("URL", { exact: true }).fill("https://example.com/hooks");
      await page.getByRole("button", { name: "Create endpoint" }).click();
      await eventually(async () => (await focused()) === "all-events");
      await page.getByLabel("All events").check();
      await page.getByRole("button", { name: "Create endpoint" }).click();
      await eventually(async () => (await focused()) === "rate");
    });

    it("lists them with their state and their success of a day", async () => {
      await addEndpoint(portal(), "acme", "/fails");
      await publish(portal(), "acme", "one");
      await eventually(async () => {
        const { body } = await portal().service.call("GET", "/api/stats/endpoints");
        const { endpoints } = z
          .object({ endpoints: z.array(z.object({ delivered: z.number(), failed: z.number() })) })
          .parse(body);
        return endpoints.every(({ delivered, failed }) => delivered + failed === 1);
      });
      const { page, inspect } = await portal().open("/endpoints");
      const failing = page.getByRole("listitem").filter({ hasText: "/fails" });
      await failing.getByText("Failing").waitFor();
      await failing.getByText("0%").waitFor();
      await page.getByRole("listitem").filter({ hasText: "/works" }).getByText("Active").waitFor();
      await inspect("endpoints");
      await page.locator("label", { hasText: "Failing" }).click();
      assert.match(page.url(), /state=failing/);
      assert.equal(await page.getByRole("main").getByRole("listitem").count(), 1);
      await page.reload();
      await failing.waitFor();
      assert.equal(await page.getByRole("main").getByRole("listitem").count(), 1);
      await page.getByLabel("Filter by URL").fill("fails");
      await page.waitForURL((url) => url.search === "?q=fails&state=failing");
      await page.locator("label", { hasText: "Disabled" }).click();
      await page.waitForURL((url) => url.search === "?q=fails&state=disabled");
      await page.getByText("No endpoint matches").waitFor();
      await page.getByRole("button", { name: "Show all" }).click();
      await page.getByRole("listitem").filter({ hasText: "/works" }).waitFor();
      await page.waitForURL((url) => url.search === "");
    });

    it("disables with a warning, and enables by Undo", async () => {
      const { page, inspect } = await portal().open("/endpoints");
      const row = page.getByRole("listitem").filter({ hasText: "/works" });
      await row.getByRole("button", { name: /Actions for/ }).click();
      await page.getByRole("menuitem", { name: "Disable" }).click();
      await page.getByText("Attempts that are due are held").waitFor();
      await page.getByRole("dialog", { name: /^Disable 127\.0\.0\.1:\d+\/works\?$/ }).waitFor();
      await inspect("endpoint-disable");
      await page.getByRole("button", { name: "Disable endpoint" }).click();
      await row.getByText("Disabled").waitFor();
      const isEnabled = async () =>
        (await endpointsOf(portal(), "acme")).find(({ url }) => url.endsWith("/works"))?.enabled;
      assert.equal(await isEnabled(), false);
      await inspect("endpoints-disabled");
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("is enabled").waitFor();
      assert.equal(await isEnabled(), true);
      await inspect();
    });

    it("says above the dialog that asked why a change failed", async () => {
      const tid = "offline";
      await addEndpoint(portal(), tid, "/works");
      const { page, inspect } = await portal().open("/endpoints", {
        grant: { tenant_id: tid },
        expects: /ERR_INTERNET_DISCONNECTED/,
      });
      await page.getByRole("button", { name: /^Actions/ }).click();
      await page.getByRole("menuitem", { name: "Disable" }).click();
      const ask = page.getByRole("dialog");
      await ask.waitFor();
      await page.context().setOffline(true);
      await ask.getByRole("button", { name: "Disable endpoint" }).click();
      const news = page.locator("[aria-live=assertive]").filter({ hasText: "No connection to the service" });
      await news.waitFor();
      await inspect("endpoint-failed-change");
      await news.getByRole("button", { name: "Close" }).click();
      await news.waitFor({ state: "detached" });
      await ask.waitFor();
    });

    it("says that the service cannot answer now where it answers a change so", async () => {
      const tid = "busy";
      await addEndpoint(portal(), tid, "/works");
      const { page } = await portal().open("/endpoints", {
        grant: { tenant_id: tid },
        expects: /status of 503/,
      });
      await page.route("**/api/webhooks/*", (route) =>
        route.request().method() === "PATCH"
          ? route.fulfill({ status: 503, json: { error: "Service unavailable" } })
          : route.continue(),
      );
      await page.getByRole("button", { name: /^Actions/ }).click();
      await page.getByRole("menuitem", { name: "Disable" }).click();
      await page.getByRole("button", { name: "Disable endpoint" }).click();
      const news = page.locator("[aria-live=assertive]").filter({ hasText: "The service cannot answer now" });
      await news.waitFor();
    });

    it("deletes after it has said what that means", async () => {
      const endpoint = await addEndpoint(portal(), "acme", "/deleted");
      const { page, inspect } = await portal().open(`/endpoints/${endpoint.id}`);
      await page.getByRole("button", { name: /Actions for/ }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await page.getByText("There is no way back").waitFor();
      await page.getByRole("dialog", { name: /^Delete 127\.0\.0\.1:\d+\/deleted\?$/ }).waitFor();
      await inspect("endpoint-delete");
      await page.getByRole("button", { name: "Delete endpoint" }).click();
      await page.getByRole("heading", { level: 1, name: "Endpoints" }).waitFor();
      assert.ok(!(await endpointsOf(portal(), "acme")).some(({ id }) => id === endpoint.id));
      await inspect();
    });

    it("says nothing of an endpoint's attempts that it does not know: a thousand are newer", async () => {
      const grant = { tenant_id: "crowd" };
      const { id } = await addEndpoint(portal(), "crowd", "/fails");
      await publish(portal(), "crowd", "one");
      await eventually(async () => (await deliveriesOf(portal(), "crowd", "status=failed")).length === 1);
      await portal().service.database.pool.query(
        `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
          SELECT 'crowd', postern.uuid_v7(), 'https://example.com/', '{*}', '', now(), now() FROM generate_series(1, 1000)`,
      );
      const { page, inspect } = await portal().open("/endpoints?q=fails", { grant });
      const row = page.getByRole("listitem").filter({ hasText: "/fails" });
      await page.getByText("Attempts of the newest 1,000 endpoints are counted.").waitFor();
      await row.waitFor();
      assert.equal(await row.getByText("No traffic").count(), 0);
      await inspect();
      await page.goto(`${portal().service.url}/portal/endpoints/${id}`);
      await page.getByText("Every automatic attempt has failed since").waitFor();
      await page.getByRole("img", { name: "0 delivered and 1 failed in this time" }).waitFor();
      assert.equal(await page.getByText("No attempt in the last 24 hours.").count(), 0);
    });

    it("scrolls through a thousand", async () => {
      const { url } = await addEndpoint(portal(), "many", "/many/0");
      // The rest by SQL: a thousand calls take a busy machine too long.
      await portal().service.database.pool.query(
        `INSERT INTO postern.endpoints
          SELECT (jsonb_populate_record(first, jsonb_build_object('url', left($1, -1) || n,
            'id', overlay(postern.lowest_id_at(now() + n * interval '1 ms')::text PLACING '7' FROM 15)))).*
          FROM postern.endpoints first, generate_series(1, 999) n WHERE first.url = $1`,
        [url],
      );
      const { page, inspect } = await portal().open("/endpoints", { grant: { tenant_id: "many" } });
      await page.getByText("/many/999").waitFor();
      assert.ok((await page.getByRole("main").getByRole("listitem").count()) < 60);
      await page.keyboard.press("j");
      await page.keyboard.press("End");
      await page.getByText("/many/0", { exact: true }).waitFor();
      await inspect("endpoints-many");
      await page.getByLabel("Filter by URL").fill("many/77");
      await page.getByText("/many/777").waitFor();
      assert.equal(await page.getByRole("main").getByRole("listitem").count(), 11);
      await page.getByLabel("Filter by URL").fill("");
      await page.getByText("/many/999").waitFor();
      await page.getByRole("heading", { level: 1 }).click();
      // Faster than rows are drawn, and on from the first, which had the focus before.
      for (let n = 0; n < 60; n++) await page.keyboard.press("j");
      const focused = "document.activeElement.closest('[aria-posinset]')?.getAttribute('aria-posinset')";
      await eventually(async () => (await page.evaluate(focused)) === "61");
      await page.keyboard.press("o");
      await page.getByRole("heading", { level: 1, name: "/many/939" }).waitFor();
    });
  },
);
