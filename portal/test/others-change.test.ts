/** What a page shows once another person has made or deleted an endpoint, or changed the catalog. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { CATALOG, catalogFile } from "./support/event-catalog.ts";
import { describePortal } from "./support/portal.ts";
import { addEndpoint, publish } from "./support/tenant.ts";

const FILE = catalogFile();
const OWNER = { type: "user", tid: "acme", sub: "gil", role: "owner" };

describePortal(
  "the portal beside others",
  { env: { RETRY_SCHEDULE: "0s", RATE_LIMIT_WRITES: "0" } },
  (portal) => {
    it("names an endpoint that was made while the log is open", async () => {
      await addEndpoint(portal(), "late", "/early");
      const { page } = await portal().open("/log", { grant: { tenant_id: "late" } });
      await page.getByText("No deliveries in this time").waitFor();
      await addEndpoint(portal(), "late", "/later");
      await publish(portal(), "late", "for both");
      const fresh = page.getByRole("button", { name: "Show 2 new deliveries" });
      await fresh.click();
      await page.getByRole("listitem").filter({ hasText: "/later" }).waitFor();
      assert.equal(await page.getByText("Deleted endpoint").count(), 0);
    });

    it("does not call endpoints deleted that it could not read", async () => {
      const { id } = await addEndpoint(portal(), "acme", "/audited");
      const { page } = await portal().open("/events", { expects: /429/ });
      await page.route(/\/api\/webhooks$/, (route) => route.fulfill({ status: 429, body: "{}" }));
      await page.goto(`${portal().service.url}/portal/audit?endpoint=${id}`);
      await page
        .getByText(`… ${id.slice(-6)}`, { exact: true })
        .last()
        .waitFor();
      assert.equal(await page.getByText("Deleted endpoint").count(), 0);
      await publish(portal(), "acme", "logged");
      await page.goto(`${portal().service.url}/portal/log`);
      const row = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
      await row
        .getByText(`… ${id.slice(-6)}`)
        .last()
        .waitFor();
      assert.equal(await page.getByText("Deleted endpoint").count(), 0);
      await page.unroute(/\/api\/webhooks$/);
      await page.goto(`${portal().service.url}/portal/audit?endpoint=${id}`);
      await page.getByRole("group").filter({ hasText: "/audited" }).waitFor();
    });

    it("says that an endpoint is gone when a change does not find it", async () => {
      const { id } = await addEndpoint(portal(), "acme", "/gone");
      const { page, inspect } = await portal().open(`/endpoints/${id}`, { expects: /404/ });
      await page.getByRole("button", { name: "Actions for" }).click();
      await page.getByRole("menuitem", { name: "Disable" }).click();
      const { status } = await portal().service.call("DELETE", `/api/webhooks/${id}`, { as: OWNER });
      assert.equal(status, 200);
      await page.getByRole("button", { name: "Disable endpoint" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("heading", { name: "Endpoint", exact: true }).waitFor();
      await page.getByRole("alert").getByText("Not found").last().waitFor();
      await inspect();
    });
  },
);

describePortal("the portal beside a catalog that changes", { env: { EVENT_CATALOG: FILE } }, (portal) => {
  it("shows which chosen event type is gone from the catalog once a form is refused", async () => {
    const { url } = portal().service.receiver;
    const { page } = await portal().open("/endpoints/new", { expects: /status of 400/ });
    await page.getByRole("textbox", { name: "URL" }).fill(new URL("/catalog", url).href);
    await page.getByRole("checkbox", { name: /^customer\.merged/ }).check();
    await page.getByRole("checkbox", { name: /^order\.shipped/ }).check();
    writeFileSync(FILE, JSON.stringify(CATALOG.filter(({ type }) => type !== "order.shipped")));
    await eventually(async () => {
      const { text } = await portal().service.call("GET", "/api/webhooks/events");
      return !text.includes("order.shipped");
    });
    await page.getByRole("button", { name: "Create endpoint" }).click();
    await page.getByText("no such event type").waitFor();
    const gone = page.getByRole("group", { name: "Patterns outside the catalog" });
    await gone.getByRole("checkbox", { name: "order.shipped" }).click();
    await page.getByRole("button", { name: "Create endpoint" }).click();
    await page.getByRole("button", { name: "I have stored it" }).waitFor();
  });
});
