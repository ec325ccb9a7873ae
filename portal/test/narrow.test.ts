/** Very narrow windows, as by a zoom of 400 %, and colours that the system forces. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Locator } from "playwright-core";
import { describePortal } from "./support/portal.ts";
import { addEndpoint } from "./support/tenant.ts";

const TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
/** Run in the page. */
const isInSightOf = (label: Locator): Promise<boolean> =>
  label.evaluate((element) => {
    const { left, right } = element.getBoundingClientRect();
    const around = element.parentElement?.getBoundingClientRect();
    return around !== undefined && left >= around.left && right <= around.right;
  });
const adjustOf = (control: Locator) =>
  control.evaluate(
    (element) => element.ownerDocument.defaultView?.getComputedStyle(element).forcedColorAdjust,
  );

describePortal("the portal for who sees little", { env: { RATE_LIMIT_WRITES: "0" } }, (portal) => {
  it("is as wide as its window of 320 pixels, also with more choices than have room", async () => {
    const { id } = await addEndpoint(portal(), "acme", "/narrow");
    const { page } = await portal().open(`/endpoints/${id}/secret?tab=verify`);
    await page.setViewportSize({ width: 320, height: 640 });
    const last = page.getByRole("radio", { name: "Rust" });
    await last.waitFor();
    assert.equal(await page.evaluate(TOO_WIDE), 0);
    await last.focus();
    await page.keyboard.press("Space");
    await page.waitForURL(/language=rust/);
    assert.equal(await page.evaluate(TOO_WIDE), 0);
    for (const path of ["/log", "/exports?open=new", `/endpoints/${id}?replay=failed`, "/audit", "/events"]) {
      await page.goto(`${portal().service.url}/portal${path}`);
      await page.getByRole("heading").first().waitFor();
      assert.equal(await page.evaluate(TOO_WIDE), 0, path);
    }
  });

  it("has what is chosen in sight, of more choices than have room", async () => {
    const { id } = await addEndpoint(portal(), "acme", "/chosen");
    const { page } = await portal().open(`/endpoints/${id}/secret?tab=verify&language=rust`, {
      size: "phone",
    });
    const choices = page.getByRole("group", { name: "Language" });
    const isInSight = (name: string) => isInSightOf(choices.locator("label", { hasText: name }));
    await choices.waitFor();
    assert.equal(await isInSight("Rust"), true);
    assert.equal(await isInSight("Node"), false);
    assert.equal(await page.evaluate("scrollY"), 0);
    await page.goto(`${portal().service.url}/portal/endpoints/${id}/secret?tab=verify&language=python`);
    await choices.waitFor();
    assert.equal(await isInSight("Node"), true);
  });

  it("shows which choice is made in colours that the system forces", async () => {
    const { page } = await portal().open("/endpoints");
    await addEndpoint(portal(), "acme", "/forced");
    await page.emulateMedia({ forcedColors: "active" });
    await page.getByRole("link", { name: "Exports and files" }).click();
    const chosen = page.locator("label", { hasText: "Exports" });
    await chosen.waitFor();
    // Else the browser puts a plate of the page's colour behind the text, whose colour is nearly the same.
    assert.equal(await adjustOf(chosen), "none");
    const here = page.getByRole("link", { name: "Exports and files" });
    assert.equal(await adjustOf(here), "none");
  });
});
