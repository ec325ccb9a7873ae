/** A secret is shown once: nobody leaves the page that shows it while it is made or before they stored it. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Page } from "playwright-core";
import { eventually } from "../../test/support/eventually.ts";
import { describePortal } from "./support/portal.ts";
import { addEndpoint, endpointsOf } from "./support/tenant.ts";

/** Holds the answer to such a POST until `release` is called. */
async function hold(page: Page, path: RegExp): Promise<{ isHeld: () => boolean; release: () => void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isHeld = false;
  await page.route(path, async (route) => {
    if (route.request().method() === "POST") {
      isHeld = true;
      await promise;
    }
    await route.continue();
  });
  return { isHeld: () => isHeld, release: resolve };
}

describePortal(
  "the portal with a secret that nobody saw yet",
  { env: { RATE_LIMIT_WRITES: "0" } },
  (portal) => {
    it("stays while an endpoint is created, and until its secret is stored", async () => {
      const { page, inspect } = await portal().open("/endpoints", { grant: { tenant_id: "creates" } });
      await page.getByRole("link", { name: "Add endpoint" }).first().click();
      await page
        .getByRole("textbox", { name: "URL" })
        .fill(new URL("/new", portal().service.receiver.url).href);
      await page.getByLabel("All events").check();
      const { isHeld, release } = await hold(page, /\/api\/webhooks$/);
      await page.getByRole("button", { name: "Create endpoint" }).click();
      await eventually(async () => isHeld());
      const cancel = page.getByRole("link", { name: "Cancel" });
      assert.equal(await cancel.getAttribute("aria-disabled"), "true");
      await cancel.click({ force: true });
      await page.getByRole("link", { name: "Deliveries" }).click();
      await page.evaluate("history.back()");
      await inspect();
      release();
      const secret = page.getByRole("dialog").getByLabel("Signing secret", { exact: true });
      await secret.waitFor();
      await page.evaluate("history.back()");
      await inspect();
      assert.match(await secret.innerText(), /^whsec_/);
      await page.getByRole("button", { name: "I have stored it" }).click();
      const [endpoint] = await endpointsOf(portal(), "creates");
      await page.waitForURL(new RegExp(`/endpoints/${endpoint?.id}$`));
    });

    it("stays while a secret is rotated, also when the question is closed", async () => {
      const { id } = await addEndpoint(portal(), "rotates", "/works");
      const { page } = await portal().open(`/endpoints/${id}/secret`, { grant: { tenant_id: "rotates" } });
      const { isHeld, release } = await hold(page, /\/rotate-secret$/);
      await page.getByRole("button", { name: "Rotate secret" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click();
      await eventually(async () => isHeld());
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("link", { name: "Deliveries" }).click();
      await page.getByLabel("None").check();
      release();
      await page.getByRole("dialog").getByText("whsec_").waitFor();
      // By what was sent, and not by what was chosen since.
      await page.getByRole("dialog").getByText("The former secret signs beside it for 1 day").waitFor();
      await page.getByRole("button", { name: "I have stored it" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("link", { name: "Deliveries" }).click();
      await page.getByRole("heading", { name: "Deliveries" }).waitFor();
    });
  },
);
