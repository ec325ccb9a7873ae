/** Figures that could not be read yet are not shown as nothing. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { describePortal } from "./support/portal.ts";
import { endpointsOf, prepare } from "./support/tenant.ts";

const STATS = /\/api\/stats/;
const REFUSED = { status: 429, contentType: "application/json", body: '{"error":"Too many requests"}' };
const EXPECTED = /429/;
const FAULT = { status: 500, contentType: "application/json", body: '{"error":"Internal error"}' };

describePortal(
  "the portal without figures",
  {
    env: { RETRY_SCHEDULE: "0s", RATE_LIMIT_WRITES: "0" },
    respond: ({ path }) => ({ status: path === "/fails" ? 500 : 200 }),
  },
  (portal) => {
    it("does not say that an endpoint had no attempt, nor count its deliveries", async () => {
      const [{ id }] = await prepare(portal(), "acme", 2);
      const { page, inspect } = await portal().open("/events", { expects: EXPECTED });
      await page.route(STATS, (route) => route.fulfill(REFUSED));
      await page.goto(`${portal().service.url}/portal/endpoints/${id}`);
      const chart = page.getByRole("figure");
      await chart.getByText("The deliveries could not be counted.").waitFor();
      assert.equal(await page.getByText("No traffic").count(), 0);
      assert.equal(await chart.getByText("0 delivered").count(), 0);
      await inspect();
      await page.unroute(STATS);
      await chart.getByRole("button", { name: "Try again" }).click();
      await chart.getByText("2 delivered").waitFor();
    });

    it("says that they are on their way, not that they could not be counted", async () => {
      const { page } = await portal().open("/events");
      const { promise: heldBack, resolve: goOn } = Promise.withResolvers<void>();
      await page.route(STATS, async (route) => {
        await heldBack;
        return route.continue();
      });
      await page.goto(`${portal().service.url}/portal/log`);
      const chart = page.getByRole("figure");
      await chart.getByRole("img", { name: "Loading …" }).waitFor();
      assert.equal(await page.getByLabel("could not be counted").count(), 0);
      goOn();
      await chart.getByRole("img", { name: /delivered and/ }).waitFor();
    });

    it("says at once that the service had a fault, which is asked for again by a person alone", async () => {
      const { page } = await portal().open("/events", { expects: /500/ });
      const asked: string[] = [];
      await page.route(STATS, (route) => {
        asked.push(route.request().url());
        return route.fulfill(FAULT);
      });
      await page.goto(`${portal().service.url}/portal/log`);
      const chart = page.getByRole("figure");
      await chart.getByText("The deliveries could not be counted.").waitFor();
      assert.equal(new Set(asked).size, asked.length);
      await page.unroute(STATS);
      await chart.getByRole("button", { name: "Try again" }).click();
      await chart.getByText("delivered").first().waitFor();
    });

    it("does not say of an endpoint's patterns that a catalog lacks them that was not read", async () => {
      const [endpoint] = await endpointsOf(portal(), "acme");
      const { page } = await portal().open("/events", { expects: /500/ });
      const types = /\/api\/webhooks\/events$/;
      await page.route(types, (route) => route.fulfill(FAULT));
      await page.goto(`${portal().service.url}/portal/endpoints/${endpoint?.id}/edit`);
      await page.getByText("The event types could not be read.").waitFor();
      assert.equal(await page.getByText("Patterns outside the catalog").count(), 0);
      await page.unroute(types);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByLabel("invoice.paid").waitFor();
      assert.equal(await page.getByText("Patterns outside the catalog").count(), 0);
    });

    it("does not say that no endpoint fails", async () => {
      assert.equal((await endpointsOf(portal(), "acme")).length, 2);
      const { page, inspect } = await portal().open("/events", { expects: EXPECTED });
      await page.route(STATS, (route) => route.fulfill(REFUSED));
      await page.goto(`${portal().service.url}/portal/endpoints`);
      await page.getByText("The last 24 hours could not be read.").waitFor();
      await page.getByRole("radio", { name: "Enabled 2" }).waitFor();
      await page.getByText("Failing", { exact: true }).click();
      await page.getByText("The last 24 hours could not be read.").waitFor();
      assert.equal(await page.getByText("No endpoint matches").count(), 0);
      await inspect();
      await page.unroute(STATS);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("radio", { name: "Failing 1" }).waitFor();
      await page.getByRole("link", { name: "/fails" }).waitFor();
    });

    it("says why replays could not be read, and when to try again", async () => {
      const [{ id }] = await prepare(portal(), "replays", 1);
      const { page, inspect } = await portal().open("/events", {
        grant: { tenant_id: "replays" },
        expects: EXPECTED,
      });
      const path = /\/api\/replays/;
      const replays = page.getByRole("region", { name: "Replays" });
      for (const [seconds, wait] of [
        ["3600", "Wait 1 hour and try again."],
        ["300", "Wait 5 minutes and try again."],
        ["61", "Wait 2 minutes and try again."],
        ["5", "Wait 5 seconds and try again."],
        // As a proxy answers, which names no time.
        [null, "Wait a moment and try again."],
      ] as const) {
        const headers = { ...(seconds !== null && { "Retry-After": seconds }) };
        await page.route(path, (route) => route.fulfill({ ...REFUSED, headers }));
        await page.goto(`${portal().service.url}/portal/endpoints/${id}`);
        await replays.getByText(wait).waitFor();
      }
      await inspect();
      await page.unroute(path);
      await replays.getByRole("button", { name: "Try again" }).click();
      await replays.getByText("No replay yet.").waitFor();
    });

    it("says that a delivery's other attempts could not be read", async () => {
      await prepare(portal(), "timeline", 1);
      const { page, inspect } = await portal().open("/events", {
        grant: { tenant_id: "timeline" },
        expects: EXPECTED,
      });
      const path = /\/api\/events\/[0-9a-f-]+$/;
      await page.route(path, (route) => route.fulfill(REFUSED));
      await page.goto(`${portal().service.url}/portal/log`);
      await page.locator("[data-row]").first().click();
      const drawer = page.getByRole("dialog");
      await drawer.getByText("Too many requests").waitFor();
      await inspect();
      await page.unroute(path);
      await drawer.getByRole("button", { name: "Try again" }).click();
      await drawer.getByText("At other endpoints").waitFor();
    });
  },
);
