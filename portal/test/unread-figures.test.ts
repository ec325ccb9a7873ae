/** Figures that could not be read yet are not shown as nothing. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { describePortal } from "./support/portal.ts";
import { endpointsOf, prepare } from "./support/tenant.ts";

const STATS = /\/api\/stats/;
const REFUSED = { status: 429, contentType: "application/json", body: '{"error":"Too many requests"}' };
const EXPECTED = /429/;

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
  },
);
