/** What a page shows once another person has made or deleted an endpoint. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { describePortal } from "./support/portal.ts";
import { addEndpoint, publish } from "./support/tenant.ts";

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
      await page.unroute(/\/api\/webhooks$/);
      await page.reload();
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
