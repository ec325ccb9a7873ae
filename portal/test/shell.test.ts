/** What every page has: languages, themes, times, keys, and a way for those who see or point little. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { describePortal } from "./support/portal.ts";

const FOCUSED = "document.activeElement.textContent";

describePortal("the portal's shell", {}, (portal) => {
  it("speaks the language of the browser, and that which one chooses", async () => {
    const { page, inspect } = await portal().open("/endpoints", { locale: "de-DE" });
    await page.getByText("Noch kein Endpunkt").waitFor();
    assert.equal(await page.locator("html").getAttribute("lang"), "de");
    await inspect("endpoints-empty-german");
    await page.getByRole("button", { name: "Anzeige, Abmelden" }).click();
    await page.getByRole("menuitemradio", { name: "English" }).click();
    await page.getByText("No endpoint yet").waitFor();
    await inspect("display", "desktop");
    await page.reload();
    await page.getByText("No endpoint yet").waitFor();
  });

  it("has its choices, and the way out, behind a button of a phone's bar", async () => {
    const { page, inspect } = await portal().open("/endpoints", { size: "phone" });
    await page.getByRole("button", { name: "Display, sign out" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
    await inspect("display", "phone");
  });

  it("keeps a theme of one's own against that of the system", async () => {
    const { page } = await portal().open("/endpoints");
    await page.emulateMedia({ colorScheme: "light" });
    const canvas = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    const light = await canvas();
    await page.getByRole("button", { name: "Display, sign out" }).click();
    await page.getByRole("menuitemradio", { name: "Dark" }).click();
    assert.notEqual(await canvas(), light);
    await page.reload();
    await page.getByText("No endpoint yet").waitFor();
    assert.notEqual(await canvas(), light);
  });

  it("lists its keys by ?, and gives the focus to the title of each new page, or to where one begins there", async () => {
    const { page, inspect } = await portal().open("/endpoints");
    await page.getByText("No endpoint yet").waitFor();
    await page.getByRole("link", { name: "Event types" }).focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await inspect("shortcuts");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await eventually(async () => (await page.evaluate(FOCUSED)) === "Event types");
    await page.keyboard.press("n");
    await page.getByRole("heading", { name: "Add endpoint" }).waitFor();
    await eventually(async () => (await page.evaluate("document.activeElement.name")) === "url");
    await page.keyboard.type("https://example.com/a/b");
    assert.equal(await page.getByRole("textbox", { name: "URL" }).inputValue(), "https://example.com/a/b");
    await inspect();
    await page.goBack();
    await page.getByText("No endpoint yet").waitFor();
    await eventually(async () => (await page.evaluate(FOCUSED)) === "Endpoints");
  });

  it("takes what does not fit in an address as if it were not there", async () => {
    const { page, inspect } = await portal().open("/log?range=999d&status=lost&from=sometime");
    await page.getByRole("heading", { name: "Deliveries" }).waitFor();
    await page.getByText("No deliveries in this time").waitFor();
    assert.ok(await page.getByRole("radio", { name: "24 hours" }).isChecked());
    assert.equal(await page.getByRole("combobox", { name: "Status" }).inputValue(), "");
    await inspect();
  });

  it("is skipped by its first link", async () => {
    const { page } = await portal().open("/endpoints");
    await page.getByText("No endpoint yet").waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(FOCUSED), "Skip to content");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(FOCUSED), "Endpoints");
  });

  it("has its list of pages behind a button on a phone", async () => {
    const { page, inspect } = await portal().open("/endpoints/new", { size: "phone" });
    await page.getByRole("button", { name: "Open the list of pages" }).click();
    await page.getByRole("dialog", { name: "Pages" }).waitFor();
    await inspect();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await eventually(
      async () => (await page.evaluate("document.activeElement.ariaLabel")) === "Open the list of pages",
    );
    await page.getByRole("button", { name: "Open the list of pages" }).click();
    await page.getByRole("link", { name: "Endpoints" }).click();
    await page.getByText("No endpoint yet").waitFor();
    await inspect();
  });

  it("stays as it is when a part of it cannot be loaded, and says so", async () => {
    const { page } = await portal().open("/endpoints/new", { size: "phone", expects: /ERR_FAILED/ });
    await page.getByRole("textbox", { name: "URL" }).fill("https://example.com/kept");
    await page.route(/navigation-drawer-/, (route) => route.abort());
    await page.getByRole("button", { name: "Open the list of pages" }).click();
    await page.getByText("This could not be loaded").waitFor();
    assert.equal(await page.getByRole("textbox", { name: "URL" }).inputValue(), "https://example.com/kept");
  });

  it("loads a part that got lost when one tries again", async () => {
    const { page, inspect } = await portal().open("/endpoints", {
      expects: /ERR_FAILED|part could not be loaded/,
    });
    await page.getByText("No endpoint yet").waitFor();
    const lost = page.getByText("This could not be loaded");
    const again = page.getByRole("button", { name: "Try again" });
    const part = /(?:search-dialog|display-menu-open)-/;
    const lose = () => page.route(part, (route) => route.abort());
    await lose();
    await page.keyboard.press("/");
    await lost.waitFor();
    await inspect();
    await again.click();
    await lost.waitFor();
    await page.unroute(part);
    await again.click();
    await page.getByRole("dialog", { name: "Search" }).waitFor();
    assert.equal(await lost.count(), 0);
    await page.keyboard.press("Escape");
    await lose();
    await page.getByRole("button", { name: "Display, sign out" }).click();
    await lost.waitFor();
    await page.unroute(part);
    await page.getByRole("button", { name: "Display, sign out" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
  });

  it("loads a page whose script got lost when one tries again", async () => {
    const { page } = await portal().open("/endpoints", { expects: /ERR_FAILED/ });
    await page.getByText("No endpoint yet").waitFor();
    const script = /\/assets\/page-/;
    await page.route(script, (route) => route.abort());
    await page.getByRole("link", { name: "Audit log" }).click();
    await page.getByRole("button", { name: "Try again" }).waitFor();
    // A newer release has other scripts, and then trying again is in vain.
    assert.match(await page.getByRole("alert").innerText(), /^This could not be loaded.*reload the page/s);
    await page.unroute(script);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Audit log" }).waitFor();
  });

  it("says when its main part cannot be loaded", async () => {
    const { page } = await portal().open("/endpoints", { expects: /ERR_FAILED/ });
    await page.getByText("No endpoint yet").waitFor();
    await page.route(/\/base-/, (route) => route.abort());
    await page.reload();
    await page.getByText("The portal could not be loaded. Reload the page.").waitFor();
  });

  it("says that a page or an endpoint is not there", async () => {
    const { page, inspect } = await portal().open("/nowhere", { expects: /status of 404/ });
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await inspect("not-found");
    await page.goto(`${portal().service.url}/portal/endpoints/01a203c6-056c-7067-a3a3-42e963912f1f`);
    await page.getByText("It was deleted, is older").waitFor();
    await inspect();
  });
});
