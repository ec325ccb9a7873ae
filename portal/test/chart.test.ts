/** The chart of deliveries: how its bars are told apart, and what their axis says. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Page } from "playwright-core";
import * as z from "zod";
import { describePortal } from "./support/portal.ts";
import { prepare } from "./support/tenant.ts";

const DAY_MS = 86_400_000;
const stats = z.object({ buckets: z.array(z.object({ at: z.string() })) });

/** The axis is hidden from the tree of accessibility. */
const axisOf = (page: Page) => page.locator("figure > div[aria-hidden] > span:visible");

/** Runs in the page: whether a label begins before the one left of it has ended. */
const DO_LABELS_OVERLAP = `[...document.querySelectorAll("figure > div[aria-hidden] > span")]
  .map((label) => label.getBoundingClientRect()).filter(({ width }) => width > 0)
  .some(({ left }, place, all) => place > 0 && left < all[place - 1].right)`;

describePortal(
  "the portal's chart of deliveries",
  {
    env: { RETRY_SCHEDULE: "0s", RATE_LIMIT_WRITES: "0" },
    respond: ({ path }) => ({ status: path === "/fails" ? 500 : 200 }),
  },
  (portal) => {
    it("tells failed bars by their stripes too, not by colour alone", async () => {
      await prepare(portal(), "striped", 1);
      const { page } = await portal().open("/log", { grant: { tenant_id: "striped" } });
      const chart = page.getByRole("img", { name: "1 delivered and 1 failed in this time" });
      await chart.waitFor();
      assert.equal(await chart.locator("path[stroke-dasharray]").count(), 1);
      assert.equal(await page.locator("figcaption path[stroke-dasharray]").count(), 1);
    });

    it("names a bar of a day after the day of which it has the most, west of UTC too", async () => {
      const { page } = await portal().open("/log", { zone: "America/Los_Angeles" });
      const answer = page.waitForResponse(
        (response) => /\/api\/stats\?/.test(response.url()) && response.url().includes("bucket=1d"),
      );
      await page.getByText("30 days", { exact: true }).click();
      const { buckets } = stats.parse(await (await answer).json());
      const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
      await axisOf(page)
        .getByText(day.format(new Date(buckets[0]?.at ?? "")))
        .waitFor();
      assert.equal(await axisOf(page).first().textContent(), day.format(new Date(buckets[0]?.at ?? "")));
    });

    it("counts the last 400 days of a longer time, and says so", async () => {
      await prepare(portal(), "longer", 1);
      const { page, inspect } = await portal().open("/events", { grant: { tenant_id: "longer" } });
      const causes = page.waitForResponse((response) => response.url().includes("/api/stats/causes"));
      await page.goto(`${portal().service.url}/portal/log?from=2020-01-01T00:00:00.000Z`);
      await page.getByRole("img", { name: "1 delivered and 1 failed in this time" }).waitFor();
      await page.getByText("The bars count the last 400 days of this time.").waitFor();
      assert.equal((await causes).status(), 200);
      await inspect();
    });

    it("has labels that do not overlap on a phone", async () => {
      const [from, to] = [new Date(Date.now() - 3 * DAY_MS), new Date()].map((at) => at.toISOString());
      const { page } = await portal().open(`/log?from=${from}&to=${to}`, { size: "phone", locale: "de-DE" });
      await axisOf(page).first().waitFor();
      assert.equal(await page.evaluate(DO_LABELS_OVERLAP), false);
      assert.equal(await axisOf(page).count(), 2);
    });
  },
);
