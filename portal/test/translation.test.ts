/** The portal while the browser translates it: elements of its own take the place of texts. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Page } from "playwright-core";
import { describePortal } from "./support/portal.ts";
import { prepare } from "./support/tenant.ts";

/** Runs in the page, as a translator does, on what is there and on what comes. */
const TRANSLATE = `(() => {
  const translate = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      if (text.data.trim() === "" || text.parentElement?.closest("font, code, pre, [translate=no]") !== null) continue;
      const font = document.createElement("font");
      font.append(document.createElement("font"));
      font.firstChild.textContent = text.data;
      text.replaceWith(font);
    }
  };
  translate(document.body);
  new MutationObserver((records) => {
    for (const { addedNodes } of records)
      for (const node of addedNodes) if (node.parentElement !== null) translate(node.parentElement);
  }).observe(document.body, { childList: true, subtree: true });
})()`;

async function isTranslated(page: Page): Promise<boolean> {
  return (await page.locator("main font").count()) > 0;
}

describePortal(
  "the portal in translation",
  {
    env: { RETRY_SCHEDULE: "0s", RATE_LIMIT_WRITES: "0" },
    respond: ({ path }) => ({ status: path === "/fails" ? 500 : 200 }),
  },
  (portal) => {
    it("shows a rotated secret, and what became of a test, a replay and a retry", async () => {
      const [, fails] = await prepare(portal(), "acme", 2);
      const { page, faults } = await portal().open(`/endpoints/${fails.id}`);
      const button = (name: string | RegExp) => page.getByRole("button", { name });
      const within = (name: string | RegExp) => page.getByRole("dialog").getByRole("button", { name });
      await button("New replay").waitFor();
      await page.evaluate(TRANSLATE);
      assert.equal(await isTranslated(page), true);
      await button("New replay").click();
      await page.getByText("2 events would be sent.").waitFor();
      await within("Send them").click();
      await page.getByText("2 of 2 done").waitFor();
      await page.getByRole("link", { name: "Test" }).click();
      await button("Send test").click();
      await page.getByText("500").first().waitFor();
      await page.goBack();
      await page.getByRole("link", { name: "Secret" }).click();
      await button("Rotate secret").click();
      await within("Rotate secret").click();
      await page.getByRole("dialog").getByText("whsec_").waitFor();
      await button("I have stored it").click();
      await page.getByRole("link", { name: "Deliveries" }).click();
      await page.getByLabel("Status").selectOption("failed");
      await page.locator("[data-row]").first().click();
      await within("Send again").click();
      await page.getByText("It failed again").waitFor();
      await within("Older").click();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      assert.equal(await isTranslated(page), true);
      assert.deepEqual(faults, []);
    });
  },
);
