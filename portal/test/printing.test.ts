/** What a page has on paper: its content, also that which is out of sight, and no controls. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Page } from "playwright-core";
import { seedDeliveries } from "../../bench/seed.ts";
import { eventually } from "../../test/support/eventually.ts";
import { describePortal } from "./support/portal.ts";
import { addEndpoint, prepare } from "./support/tenant.ts";

/** Runs in the page: whether each row begins where the one before ends, or below. */
const ARE_ROWS_APART = `[...document.querySelectorAll("main li")].map((row) => row.getBoundingClientRect())
  .every(({ top }, place, all) => place === 0 || top >= all[place - 1].bottom - 1)`;
const COLOUR = "getComputedStyle(document.querySelector('h1')).color";

async function print(page: Page, work: () => Promise<void>): Promise<void> {
  await page.emulateMedia({ media: "print" });
  await page.evaluate("window.dispatchEvent(new Event('beforeprint'))");
  await work();
  await page.evaluate("window.dispatchEvent(new Event('afterprint'))");
  await page.emulateMedia({ media: null });
}

describePortal(
  "the portal on paper",
  {
    env: { RETRY_SCHEDULE: "0s", RATE_LIMIT_WRITES: "0" },
    respond: ({ path }) => ({ status: path === "/fails" ? 500 : 200, body: "answered" }),
  },
  (portal) => {
    it("has each row of the log that was read, and no navigation", async () => {
      const works = await addEndpoint(portal(), "printed", "/works");
      const { pool } = portal().service.database;
      const sql = async (text: string, values?: unknown[]) => (await pool.query(text, values)).rows;
      const row = { tenant: "'printed'", endpoint: `'${works.id}'::uuid`, isFailed: "n % 20 = 0" };
      await seedDeliveries({ sql }, { total: 150, days: 1 }, row);
      const { page } = await portal().open("/log?range=7d", { grant: { tenant_id: "printed" } });
      const rows = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
      await rows.first().waitFor();
      await eventually(async () => {
        await page.mouse.move(600, 600);
        await page.mouse.wheel(0, 4000);
        return page.getByText("That is all of this time.").isVisible();
      });
      assert.ok((await rows.count()) < 80);
      await page.getByRole("button", { name: "Display" }).click();
      await page.getByRole("menuitemradio", { name: "Dark" }).click();
      await page.keyboard.press("Escape");
      const dark: unknown = await page.evaluate(COLOUR);
      await print(page, async () => {
        assert.equal(await rows.count(), 150);
        assert.equal(await page.evaluate(ARE_ROWS_APART), true);
        assert.equal(await page.getByRole("navigation").count(), 0);
        assert.equal(await page.getByRole("button").count(), 0);
        assert.notEqual(await page.evaluate(COLOUR), dark);
      });
      await eventually(async () => (await rows.count()) < 80);
      await page.getByRole("navigation").waitFor();
    });

    it("has the delivery that is open, and not the log below it", async () => {
      await prepare(portal(), "opened", 1);
      const { page } = await portal().open("/log?status=failed", { grant: { tenant_id: "opened" } });
      await page.getByRole("list", { name: "Deliveries" }).getByRole("link").first().click();
      await page.getByRole("dialog").getByText("answered").waitFor();
      await print(page, async () => {
        assert.equal(await page.getByRole("heading", { level: 1, includeHidden: true }).isVisible(), false);
        assert.ok(await page.getByRole("dialog").getByText("answered").isVisible());
        assert.equal(await page.getByRole("button").count(), 0);
      });
    });

    it("has each endpoint", async () => {
      for (let n = 0; n < 40; n++) await addEndpoint(portal(), "many", `/works/${n}`);
      const { page } = await portal().open("/endpoints", { grant: { tenant_id: "many" } });
      const rows = page.getByRole("main").getByRole("listitem");
      await rows.first().waitFor();
      assert.ok((await rows.count()) < 40);
      await print(page, async () => {
        assert.equal(await rows.count(), 40);
        assert.equal(await page.evaluate(ARE_ROWS_APART), true);
      });
    });
  },
);
