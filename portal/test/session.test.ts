/** How a session comes about, goes on and ends, and who gets to see what. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { eventually } from "../../test/support/service.ts";
import { codeUrl, describePortal } from "./support/portal.ts";

describePortal("the portal's session", { env: { BASE_PATH: "/hooks" } }, (portal) => {
  it("begins with the code of the address, which it takes away, and outlives a reload", async () => {
    const { page, inspect } = await portal().open("/endpoints");
    await page.getByRole("heading", { name: "Endpoints" }).waitFor();
    assert.equal(new URL(page.url()).hash, "");
    assert.equal(new URL(page.url()).pathname, "/hooks/portal/endpoints");
    await page.reload();
    await page.getByRole("heading", { name: "Endpoints" }).waitFor();
    assert.deepEqual(await page.context().cookies(), []);
    await inspect();
  });

  it("says what to do without a session, and where a code is no good", async () => {
    const without = await portal().open("/endpoints", { isSignedIn: false });
    await without.page.getByText("Open the portal from your application").waitFor();
    await without.inspect("session-absent");
    const used = await portal().open("/endpoints#code=used", { isSignedIn: false, expects: /status of 401/ });
    await used.page.getByText("This link was used already or is too old").waitFor();
    await used.inspect("session-unopened");
  });

  it("says what to do once it has ended elsewhere", async () => {
    const { page, inspect } = await portal().open("/endpoints", { expects: /status of 401/ });
    await page.getByRole("heading", { name: "Endpoints" }).waitFor();
    const kept: unknown = await page.evaluate('JSON.parse(sessionStorage.getItem("postern.session")).token');
    const headers = { authorization: `Bearer ${String(kept)}` };
    await portal().service.call("DELETE", "/api/portal/sessions", { as: null, headers });
    await page.getByRole("link", { name: "Add endpoint" }).first().click();
    await page.getByText("Your session has ended").waitFor();
    assert.equal(await page.evaluate('sessionStorage.getItem("postern.session")'), null);
    await inspect("session-ended");
  });

  it("is renewed before its token expires", async () => {
    const { page } = await portal().open("/endpoints", { isSignedIn: false });
    await page.clock.install();
    const renewed = page.waitForResponse((answer) => answer.url().endsWith("/api/portal/sessions/renew"));
    await page.goto(await codeUrl(portal().service, "/endpoints"));
    await page.getByRole("heading", { name: "Endpoints" }).waitFor();
    const first: unknown = await page.evaluate('sessionStorage.getItem("postern.session")');
    await page.clock.fastForward("14:00");
    assert.equal((await renewed).status(), 200);
    await eventually(
      async () => (await page.evaluate('sessionStorage.getItem("postern.session")')) !== first,
    );
  });

  it("ends by Sign out, on the server too", async () => {
    const { page, inspect } = await portal().open("/endpoints");
    await page.getByRole("heading", { name: "Endpoints" }).waitFor();
    const kept: unknown = await page.evaluate('JSON.parse(sessionStorage.getItem("postern.session")).token');
    await page.getByRole("button", { name: "Display" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByText("Your session has ended").waitFor();
    await eventually(async () => {
      const headers = { authorization: `Bearer ${String(kept)}` };
      return (await portal().service.call("GET", "/api/session", { as: null, headers })).status === 401;
    });
    await inspect();
  });

  it("shows a session that may read only everything, and no way to change it", async () => {
    const { page, inspect } = await portal().open("/endpoints", { grant: { read_only: true } });
    await page.getByText("Read only").first().waitFor();
    await page.getByText("No endpoint yet").waitFor();
    assert.equal(await page.getByRole("link", { name: "Add endpoint" }).count(), 0);
    await inspect();
    await page.goto(`${portal().service.url}/portal/endpoints/new`);
    await page.getByText("You may not add endpoints").waitFor();
    await inspect("no-permission");
  });

  it("comes back by itself after the service was away", async () => {
    const { page, inspect } = await portal().open("/endpoints", { expects: /ERR_FAILED|status of 503/ });
    await page.getByText("No endpoint yet").waitFor();
    await page.route("**/api/**", (route) => route.abort());
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    await page.clock.install();
    await page.clock.fastForward("00:30");
    await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
    await page.getByText("The service cannot be reached").waitFor();
    await page.unroute("**/api/**");
    await page.clock.fastForward("00:30");
    await page.getByText("The service cannot be reached").waitFor({ state: "detached" });
    await inspect();
  });
});
