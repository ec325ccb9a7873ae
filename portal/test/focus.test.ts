/** The focus is never on nothing: a control that goes gives it to another. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Locator, Page } from "playwright-core";
import { eventually } from "../../test/support/eventually.ts";
import { describePortal } from "./support/portal.ts";
import { addEndpoint, deliveriesOf, prepare } from "./support/tenant.ts";

const HAS_FOCUS = "document.activeElement !== null && document.activeElement !== document.body";

/** By the keyboard; the control is not there afterwards. */
async function pressAway(control: Locator): Promise<void> {
  await control.focus();
  await control.press("Enter");
  await control.waitFor({ state: "detached" });
}

const hasFocus = async (page: Page): Promise<boolean> => (await page.evaluate(HAS_FOCUS)) === true;
const isFocused = (control: Locator): Promise<boolean> =>
  control.evaluate((element) => element === element.ownerDocument.activeElement);

async function choose(page: Page, name: RegExp): Promise<void> {
  const item = page.getByRole("menuitem", { name });
  await item.waitFor();
  await item.focus();
  await item.press("Enter");
}

describePortal(
  "the portal's focus",
  {
    env: { RETRY_SCHEDULE: "0s", RATE_LIMIT_WRITES: "0" },
    respond: ({ path }) => ({ status: path === "/fails" ? 500 : 200 }),
  },
  (portal) => {
    it("goes to the title from a button that takes filters away", async () => {
      await prepare(portal(), "filters", 1);
      const { page } = await portal().open("/log?range=7d&status=failed", {
        grant: { tenant_id: "filters" },
      });
      const open = (path: string) => page.goto(`${portal().service.url}/portal${path}`);
      const title = page.getByRole("heading", { level: 1 });
      const clear = page.getByRole("button", { name: "Clear filters" });
      await page.locator("[data-row]").waitFor();
      await pressAway(clear);
      assert.equal(await isFocused(title), true);
      for (const [path, name] of [
        ["/log?range=7d&status=pending", "Look at 30 days"],
        ["/endpoints?q=nowhere", "Show all"],
        ["/events?q=nowhere", "Show all"],
        ["/audit?action=endpoint.enabled", "Clear filters"],
      ] as const) {
        await open(path);
        await pressAway(page.getByRole("button", { name }));
        assert.equal(await isFocused(title), true, path);
      }
      await open("/log?range=7d&status=pending");
      await page.getByText("Nothing matches").waitFor();
      await clear.last().focus();
      await clear.last().press("Enter");
      await page.locator("[data-row]").first().waitFor();
      assert.equal(await isFocused(title), true);
      // What one looks at is not narrower than before.
      assert.equal(new URL(page.url()).search, "?range=7d");
    });

    it("returns to the button of a menu whose first use asks", async () => {
      const { id } = await addEndpoint(portal(), "menus", "/works");
      const { page } = await portal().open("/endpoints", { grant: { tenant_id: "menus" } });
      const menu = page.getByRole("button", { name: "Actions for" });
      await menu.focus();
      await menu.press("Enter");
      await choose(page, /Disable/);
      await page.getByRole("dialog").press("Escape");
      await eventually(() => isFocused(menu));
      await page.goto(`${portal().service.url}/portal/endpoints/${id}`);
      await menu.focus();
      await menu.press("Enter");
      await choose(page, /Disable/);
      await page.getByRole("button", { name: "Disable endpoint" }).press("Enter");
      await eventually(() => isFocused(menu));
      await pressAway(page.getByRole("button", { name: "Undo" }));
      await eventually(() => isFocused(menu));
    });

    it("goes to the title when a delivery that a link opened is closed, or an export was asked for", async () => {
      await prepare(portal(), "links", 1);
      const [delivery] = await deliveriesOf(portal(), "links");
      const { page } = await portal().open(`/log?d=${delivery?.id}`, { grant: { tenant_id: "links" } });
      await page.getByRole("dialog").getByText("Timeline").waitFor();
      await page.getByRole("dialog").press("Escape");
      await eventually(() => hasFocus(page));
      await page.getByRole("link", { name: "Exports and files" }).click();
      await page.getByText("No export yet").waitFor();
      await page.getByRole("button", { name: "Request export" }).last().click();
      await page.getByRole("dialog").getByRole("button", { name: "Request export" }).press("Enter");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByText("No export yet").waitFor({ state: "detached" });
      await eventually(() => hasFocus(page));
    });

    it("keeps news for as long as it is in them", async () => {
      await prepare(portal(), "news", 1);
      const { page } = await portal().open("/exports", { grant: { tenant_id: "news" } });
      await page.clock.install();
      await page.getByText("No export yet").waitFor();
      await page.getByRole("button", { name: "Request export" }).last().click();
      await page.getByRole("dialog").getByRole("button", { name: "Request export" }).press("Enter");
      const news = page.getByText("The export is requested");
      const close = page.getByRole("button", { name: "Close" }).last();
      await news.waitFor();
      await close.focus();
      await page.clock.fastForward("00:30");
      assert.equal(await news.count(), 1);
      await close.blur();
      await page.clock.fastForward("00:30");
      await news.waitFor({ state: "detached" });
    });

    it("stays with what was tried again, and with a form whose choices were taken away", async () => {
      const { page } = await portal().open("/endpoints/new", { expects: /500/ });
      const endpoints = /\/api\/webhooks$/;
      await page.getByLabel("All events").check();
      await pressAway(page.getByRole("button", { name: "Clear", exact: true }));
      assert.equal(await hasFocus(page), true);
      await page.route(endpoints, (route) => route.fulfill({ status: 500, body: "{}" }));
      await page.goto(`${portal().service.url}/portal/endpoints`);
      await page.getByRole("button", { name: "Try again" }).waitFor();
      await page.unroute(endpoints);
      await pressAway(page.getByRole("button", { name: "Try again" }));
      assert.equal(await hasFocus(page), true);
    });

    it("stays within a dialog or a form in which something is tried again", async () => {
      await prepare(portal(), "again", 1);
      const [delivery] = await deliveriesOf(portal(), "again");
      const { page } = await portal().open("/exports", { grant: { tenant_id: "again" }, expects: /500/ });
      const retry = page.getByRole("button", { name: "Try again" });
      const fail = (path: RegExp) => page.route(path, (route) => route.fulfill({ status: 500, body: "{}" }));
      const isWithin = async (role: "dialog" | "group", name: string | RegExp) =>
        (await page.getByRole(role, { name }).and(page.locator(":focus")).count()) === 1;
      await fail(/\/api\/deliveries\/[0-9a-f-]+$/);
      await page.goto(`${portal().service.url}/portal/log?d=${delivery?.id}`);
      await retry.waitFor();
      await page.unroute(/\/api\/deliveries\/[0-9a-f-]+$/);
      await pressAway(retry);
      assert.equal(await isWithin("dialog", /./), true);
      await fail(/\/api\/webhooks\/events$/);
      await page.goto(`${portal().service.url}/portal/endpoints/new`);
      await retry.waitFor();
      await page.unroute(/\/api\/webhooks\/events$/);
      await pressAway(retry);
      assert.equal(await isWithin("group", "Events"), true);
    });

    it("has no word of a missing event type beside a search that finds none", async () => {
      const { page } = await portal().open("/events?q=nowhere");
      await page.getByText("Nothing matches").waitFor();
      assert.equal(await page.getByText("There is no such event type").count(), 0);
    });
  },
);
