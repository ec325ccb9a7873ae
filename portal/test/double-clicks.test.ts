/** Two clicks or two keys at once, or a key that is held: what they ask for happens once. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { describePortal } from "./support/portal.ts";
import { addEndpoint, deliveriesOf, endpointsOf, prepare } from "./support/tenant.ts";

describePortal(
  "the portal under double clicks",
  {
    env: { RETRY_SCHEDULE: "0s", RATE_LIMIT_WRITES: "0" },
    respond: ({ path }) => ({ status: path === "/fails" ? 500 : 200 }),
  },
  (portal) => {
    it("creates one endpoint, also when Enter is held down", async () => {
      const { page } = await portal().open("/endpoints/new", { grant: { tenant_id: "creates" } });
      const url = page.getByRole("textbox", { name: "URL" });
      for (const path of ["/clicked", "/entered"]) {
        await url.fill(new URL(path, portal().service.receiver.url).href);
        await page.getByLabel("All events").check();
        if (path === "/clicked") await page.getByRole("button", { name: "Create endpoint" }).dblclick();
        else await Promise.all([1, 2, 3].map(() => url.press("Enter")));
        await page.getByRole("button", { name: "I have stored it" }).click();
        await page.getByRole("link", { name: "Endpoints" }).first().click();
        await page.getByRole("link", { name: "Add endpoint" }).click();
      }
      assert.equal((await endpointsOf(portal(), "creates")).length, 2);
    });

    it("rotates a secret once: a second rotation would end the former secret's grace period", async () => {
      const { id } = await addEndpoint(portal(), "rotates", "/works");
      const { page } = await portal().open(`/endpoints/${id}/secret`, { grant: { tenant_id: "rotates" } });
      await page.getByRole("button", { name: "Rotate secret" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).dblclick();
      await page.getByRole("button", { name: "I have stored it" }).click();
      const { rows } = await portal().service.database.pool.query(
        "SELECT count(*)::int FROM postern.audit_log WHERE tenant_id = 'rotates' AND action = 'secret.rotated'",
      );
      assert.deepEqual(rows, [{ count: 1 }]);
    });

    it("sends a failed delivery again once", async () => {
      await prepare(portal(), "retries", 1);
      const { page } = await portal().open("/log?status=failed", { grant: { tenant_id: "retries" } });
      await page.locator("[data-row]").click();
      await page.getByRole("button", { name: "Send again" }).dblclick();
      await page.getByText("It failed again").waitFor();
      const retried = await deliveriesOf(portal(), "retries", "status=failed");
      assert.deepEqual(
        retried.map(({ trigger }) => trigger),
        ["retry", "event"],
      );
    });

    it("sends a failed delivery again once while the key is held, and again when it is pressed anew", async () => {
      await prepare(portal(), "holds", 1);
      const { page } = await portal().open("/log?status=failed", { grant: { tenant_id: "holds" } });
      await page.locator("[data-row]").click();
      await page.getByRole("button", { name: "Send again" }).waitFor();
      const retries = async () => (await deliveriesOf(portal(), "holds", "trigger=retry")).length;
      for (const count of [1, 2]) {
        await page.keyboard.down("r");
        await eventually(async () => (await retries()) === count);
        await page.getByRole("button", { name: "Send again" }).waitFor();
        await page.keyboard.down("r");
        await page.keyboard.down("r");
        await page.keyboard.up("r");
      }
      assert.equal(await retries(), 2);
    });
  },
);
