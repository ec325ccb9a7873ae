/** The catalog of event types. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { catalogFile } from "./support/event-catalog.ts";
import { describePortal } from "./support/portal.ts";
import { addEndpoint } from "./support/tenant.ts";

describePortal(
  "the portal's catalog of event types",
  { env: { EVENT_CATALOG: catalogFile(), RATE_LIMIT_WRITES: "0" } },
  (portal) => {
    it("groups them, finds them, and shows each version, its end and who gets it", async () => {
      await addEndpoint(portal(), "acme", "/all", { events: ["*"] });
      await addEndpoint(portal(), "acme", "/former", { events: ["order.placed@1"] });
      await addEndpoint(portal(), "acme", "/customers", { events: ["customer.*"] });
      const { page, inspect } = await portal().open("/endpoints");
      await page.getByRole("link", { name: "Event types" }).click();
      const list = page.getByRole("navigation", { name: "All event types" });
      await list.getByRole("link", { name: "order.placed" }).click();
      await page.getByText("An order was placed, with its lines.").waitFor();
      assert.match(page.url(), /type=order\.placed/);
      const main = page.getByRole("article");
      await main.getByRole("link", { name: /\/all$/ }).waitFor();
      assert.equal(await main.getByRole("listitem").count(), 1);
      await inspect("catalog");
      await page.locator("label", { hasText: "Version 1" }).click();
      await page.getByText("deprecated since 15 Jan 2026").waitFor();
      await page.getByText("It ends on 31 Dec 2099").waitFor();
      await main.getByRole("link", { name: /\/former$/ }).waitFor();
      assert.match(page.url(), /type=order\.placed(?:%40|@)1/);
      await inspect("catalog-deprecated");
      await page.getByLabel("Search event types").fill(" became one ");
      await list.getByRole("link", { name: "customer.merged" }).waitFor();
      assert.equal(await list.getByRole("link").count(), 1);
      await page.reload();
      await list.getByRole("link", { name: "customer.merged" }).waitFor();
      assert.equal(await list.getByRole("link").count(), 1);
      await page.getByLabel("Search event types").fill("nothing has this");
      await page.getByText("Nothing matches").waitFor();
      await inspect("catalog-none");
    });

    it("is copied as a type, and shown as schema", async () => {
      const { page, inspect } = await portal().open("/events?type=order.placed&view=schema");
      await page.getByRole("region", { name: "JSON Schema" }).getByText("Never used twice").waitFor();
      await inspect("catalog-schema");
      await page.locator("label", { hasText: "TypeScript" }).click();
      await page.getByRole("button", { name: "Copy type" }).click();
      const copied = String(await page.evaluate("navigator.clipboard.readText()"));
      assert.match(copied, /export type OrderPlacedV2 = \{/);
      assert.match(copied, /lines: OrderPlacedV2Line\[\];/);
      await inspect("catalog-typescript");
      await page.keyboard.press("j");
      await page.getByRole("heading", { name: "Order shipped" }).waitFor();
      await page.getByText("<img src=x onerror=alert(1)>").first().waitFor();
      await inspect("catalog-hostile");
    });

    it("leads to a test for who may send one, and says what is not there", async () => {
      const { page, inspect } = await portal().open("/events?type=order.placed%401");
      await page.getByRole("link", { name: "Test", exact: true }).click();
      await page.getByRole("heading", { name: "Test endpoint" }).waitFor();
      assert.equal(await page.getByLabel("Event type").inputValue(), "order.placed@1");
      await inspect();
      const reader = await portal().open("/events?type=order.placed", { grant: { read_only: true } });
      await reader.page.getByRole("link", { name: /\/all$/ }).waitFor();
      assert.equal(await reader.page.getByRole("link", { name: "Test", exact: true }).count(), 0);
      await reader.inspect();
      const other = await portal().open("/events?type=order.gone", { grant: { tenant_id: "stranger" } });
      await other.page.getByText("There is no such event type").waitFor();
      await other.inspect("catalog-unknown");
    });
  },
);
