/** The operator's list of tenants, and the way into a tenant's portal. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { describePortal } from "./support/portal.ts";
import { prepare } from "./support/tenant.ts";

const OPERATOR = { tenant_id: "*", sub: "sam", role: undefined };

describePortal(
  "the operator's portal",
  {
    env: { RETRY_SCHEDULE: "0s", RATE_LIMIT_WRITES: "0" },
    respond: ({ path }) => ({ status: path === "/fails" ? 500 : 200 }),
  },
  (portal) => {
    it("lists tenants by prefix and opens one, which its audit log tells", async () => {
      await prepare(portal(), "globex", 1);
      await prepare(portal(), "acme", 1);
      const { page, inspect } = await portal().open("/tenants", { grant: OPERATOR });
      const rows = page.getByRole("list", { name: "Tenants" }).getByRole("listitem");
      await rows.nth(1).waitFor();
      await inspect("tenants");
      assert.equal(await page.getByRole("link", { name: "Endpoints" }).count(), 0);
      await page.keyboard.press("f");
      await page.keyboard.type("glo");
      await rows.getByText("globex").waitFor();
      assert.match(page.url(), /prefix=glo/);
      await page.getByRole("button", { name: "Open as globex" }).click();
      await page.getByText("audit log says that you opened it").waitFor();
      await inspect("tenant-open");
      const before = await page.evaluate("history.length");
      await page.getByRole("button", { name: "Open as", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Endpoints" }).waitFor();
      await page.getByText("Read only").first().waitFor();
      // Back leads to no page that this session lacks.
      assert.equal(await page.evaluate("history.length"), before);
      await page.getByRole("link", { name: "Audit log" }).click();
      await page.getByRole("listitem").getByText("Portal opened for somebody").first().waitFor();
    });

    it("opens one to change it, where one asks for that", async () => {
      await prepare(portal(), "changed", 1);
      const { page } = await portal().open("/tenants", { grant: OPERATOR });
      await page.getByRole("button", { name: "Open as changed" }).click();
      await page.getByLabel("Read only").uncheck();
      await page.getByRole("button", { name: "Open as", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Endpoints" }).waitFor();
      await page.getByRole("link", { name: "Add endpoint" }).first().waitFor();
      assert.equal(await page.getByText("Read only").count(), 0);
    });

    it("is no page of a tenant's session", async () => {
      const { page, inspect } = await portal().open("/tenants");
      await page.getByText("There is no such page").first().waitFor();
      assert.equal(await page.getByRole("link", { name: "Tenants" }).count(), 0);
      await inspect();
    });

    it("is all that the operator's session opens", async () => {
      const { page } = await portal().open("/endpoints", { grant: OPERATOR });
      await page.getByRole("heading", { level: 1, name: "Tenants" }).waitFor();
    });
  },
);
