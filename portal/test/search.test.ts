/** The search over everything: by keys, and every kind of hit leads to its page. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { seedDeliveries } from "../../bench/seed.ts";
import { describePortal } from "./support/portal.ts";
import { addEndpoint, deliveriesOf, prepare } from "./support/tenant.ts";

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

describePortal(
  "the portal's search",
  {
    env: { RETRY_SCHEDULE: "0s", RATE_LIMIT_WRITES: "0", RETENTION_DAYS: "90" },
    respond: ({ path }) => ({ status: path === "/fails" ? 500 : 200 }),
  },
  (portal) => {
    it("finds pages, an endpoint, an event, a delivery and an event type", async () => {
      const [works] = await prepare(portal(), "finds", 1);
      const [delivery] = await deliveriesOf(portal(), "finds", `endpoint_id=${works.id}`);
      assert.ok(delivery?.event_id !== undefined && delivery.event_id !== null);
      const { page, inspect } = await portal().open("/exports", { grant: { tenant_id: "finds" } });
      await page.getByText("No export yet").waitFor();
      const input = page.getByRole("combobox", { name: "Search everything" });
      await page.keyboard.press("/");
      await input.waitFor();
      await page.getByRole("option", { name: "Deliveries" }).waitFor();
      await inspect("search");
      await input.fill("work");
      await page
        .getByRole("group", { name: "Endpoints" })
        .getByRole("option", { name: /works$/ })
        .waitFor();
      await inspect("search-endpoint");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: /works$/ }).waitFor();
      await eventually(async () => (await page.evaluate("document.activeElement.tagName")) === "H1");

      await page.keyboard.press("Control+k");
      await input.fill(delivery.id);
      await page.getByRole("group", { name: "Deliveries" }).getByRole("option").waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").getByText("invoice.paid").first().waitFor();
      assert.match(page.url(), new RegExp(`d=${delivery.id}`));
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });

      await page.getByRole("button", { name: "Search" }).first().click();
      await input.fill(delivery.event_id);
      await page.getByRole("group", { name: "Events" }).getByRole("option").click();
      await page.waitForURL(new RegExp(`event=${delivery.event_id}`));

      await page.keyboard.press("Control+k");
      await input.fill("invoice.pa");
      await page.getByRole("option", { name: "invoice.paid" }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/events\?type=invoice\.paid/);
      await page.getByRole("article").getByText("invoice.paid", { exact: true }).first().waitFor();

      await page.keyboard.press("Control+k");
      await input.fill("export");
      await page.getByRole("option", { name: "Exports and files" }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByText("No export yet").waitFor();
      await inspect();
    });

    it("leads to the deliveries of an event that is older than a month, as the search of the log does", async () => {
      const { id: works } = await addEndpoint(portal(), "aged", "/works");
      const { pool } = portal().service.database;
      const sql = async (text: string, values?: unknown[]) => (await pool.query(text, values)).rows;
      const row = { tenant: "'aged'", endpoint: `'${works}'::uuid`, isFailed: "false" };
      await seedDeliveries({ sql }, { total: 1, days: 60 }, row);
      const [delivery] = await deliveriesOf(portal(), "aged");
      const { page } = await portal().open("/exports", { grant: { tenant_id: "aged" } });
      await page.getByText("No export yet").waitFor();
      await page.keyboard.press("/");
      await page.getByRole("combobox").fill(delivery?.event_id ?? "");
      await page.getByRole("group", { name: "Events" }).getByRole("option").click();
      const found = page.getByRole("list", { name: "Deliveries" }).getByText("invoice.paid");
      await found.waitFor();
      await page.getByRole("button", { name: "Clear filters" }).click();
      await page.getByText("24 hours", { exact: true }).click();
      await page.getByText("No deliveries in this time").waitFor();
      await page.getByRole("searchbox").fill(delivery?.event_id ?? "");
      await page.keyboard.press("Enter");
      await found.waitFor();
    });

    it("leads from a time of the log that ended before an event to the event's deliveries", async () => {
      await prepare(portal(), "ended", 1);
      const [delivery] = await deliveriesOf(portal(), "ended");
      const { page } = await portal().open("/exports", { grant: { tenant_id: "ended" } });
      await page.goto(`${portal().service.url}/portal/log?from=${daysAgo(3)}&to=${daysAgo(2)}`);
      await page.getByText("No deliveries in this time").waitFor();
      await page.getByRole("searchbox").fill(delivery?.event_id ?? "");
      await page.keyboard.press("Enter");
      await page.getByRole("list", { name: "Deliveries" }).getByText("invoice.paid").first().waitFor();
      assert.equal(await page.getByLabel("To").inputValue(), "");
    });

    it("finds an endpoint by its description", async () => {
      await addEndpoint(portal(), "described", "/hooks", { description: "Books invoices" });
      await addEndpoint(portal(), "described", "/books", { description: "Books receipts" });
      const { page } = await portal().open("/exports", { grant: { tenant_id: "described" } });
      await page.getByText("No export yet").waitFor();
      await page.keyboard.press("/");
      await page.getByRole("combobox").fill("books");
      // The service finds this one too, by its URL, and it is listed once.
      await page.getByRole("option", { name: /books$/ }).waitFor();
      assert.equal(await page.getByRole("group", { name: "Endpoints" }).getByRole("option").count(), 2);
      await page.getByRole("option", { name: /hooks Books invoices$/ }).click();
      await page.getByRole("heading", { level: 1, name: /hooks$/ }).waitFor();
    });

    it("opens by Enter nothing that was found for what one typed before", async () => {
      await addEndpoint(portal(), "hasty", "/hasty");
      const { page } = await portal().open("/exports", { grant: { tenant_id: "hasty" } });
      await page.getByText("No export yet").waitFor();
      await page.keyboard.press("/");
      const input = page.getByRole("combobox");
      await input.fill("hast");
      await page.getByRole("option", { name: /hasty$/ }).waitFor();
      await input.fill("hast but other");
      await page.keyboard.press("Enter");
      await page
        .getByText(/Nothing has/)
        .or(page.getByRole("heading", { level: 1, name: /hasty$/ }))
        .waitFor();
      assert.match(page.url(), /\/exports$/);
    });

    it("says that nothing was found, and shows what was asked as text", async () => {
      const { page, inspect } = await portal().open("/exports", { grant: { tenant_id: "nothing" } });
      await page.getByText("No export yet").waitFor();
      await page.keyboard.press("/");
      const hostile = `<img src=x onerror="alert(1)">\u202Eleft%'${"x".repeat(300)}`;
      await page.getByRole("combobox").fill(hostile);
      await page.getByText(/Nothing has “<img src=x onerror=/).waitFor();
      assert.equal(await page.getByRole("option").count(), 0);
      await inspect("search-nothing");
      await page.keyboard.press("Escape");
      await page.getByRole("combobox").waitFor({ state: "detached" });
    });

    it("finds nothing of another tenant", async () => {
      const [works] = await prepare(portal(), "mine", 1);
      const { page } = await portal().open("/exports", { grant: { tenant_id: "theirs", role: "member" } });
      await page.getByText("No export yet").waitFor();
      await page.keyboard.press("/");
      await page.getByRole("combobox").fill(works.id);
      await page.getByText(/Nothing has/).waitFor();
    });

    it("opens by / and Ctrl+k beside a page's own filter, which f reaches", async () => {
      const [works] = await prepare(portal(), "filter", 1);
      const { page } = await portal().open("/endpoints", { grant: { tenant_id: "filter" } });
      await page.getByRole("main").getByText(new URL(works.url).host).first().waitFor();
      const everything = page.getByRole("combobox", { name: "Search everything" });
      await page.keyboard.press("f");
      await eventually(async () => (await page.evaluate("document.activeElement.type")) === "search");
      assert.equal(await page.getByRole("dialog").count(), 0);
      // The first Escape leaves the empty filter, where / would be a letter.
      await page.keyboard.press("Escape");
      for (const keys of ["/", "Control+k"]) {
        await page.keyboard.press(keys);
        await everything.waitFor();
        await page.keyboard.press("Escape");
        await everything.waitFor({ state: "detached" });
      }
    });
  },
);
