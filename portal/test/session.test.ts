/** How a session comes about, goes on and ends, and who gets to see what. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { it } from "node:test";
import { makeSecrets } from "../../src/config.ts";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { startTestService } from "../../test/support/service.ts";
import { listen } from "../../test/support/tls-receiver.ts";
import { freePort } from "../../test/support/free-port.ts";
import { codeUrl, describePortal } from "./support/portal.ts";

const KEPT_TOKEN = 'JSON.parse(sessionStorage.getItem("postern.session")).token';

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
    await page.getByText("No endpoint yet").waitFor();
    const kept: unknown = await page.evaluate(KEPT_TOKEN);
    const headers = { authorization: `Bearer ${String(kept)}` };
    await portal().service.call("DELETE", "/api/portal/sessions", { as: null, headers });
    await page.keyboard.press("n");
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
    const kept: unknown = await page.evaluate(KEPT_TOKEN);
    await page.getByRole("button", { name: "Display" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByText("You are signed out").waitFor();
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

  it("comes back by itself after the service was stopped and started again", async (context) => {
    const shared = { database: await createTestDatabase(), receiver: portal().service.receiver };
    context.after(() => shared.database.drop());
    const env = { ...makeSecrets(), PORT: String(await freePort()) };
    const first = await startTestService({ ...shared, env });
    // Each request to a service that is away is told; which of its errors, depends on how far a socket came.
    const expects = /Failed to load resource: (net::ERR_|.* status of 503)/;
    const { page, inspect } = await portal().open("/endpoints", { service: first, expects });
    await page.getByText("No endpoint yet").waitFor();
    await page.getByRole("link", { name: "Deliveries" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    await first.stop();
    await page.getByText("Connecting …").waitFor();
    await page.getByLabel("Status").selectOption("failed");
    await page.getByText("The service cannot be reached").waitFor();
    await inspect("outage");
    const second = await startTestService({ ...shared, env });
    context.after(() => second.stop());
    await page.getByText("Nothing matches").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("The service cannot be reached").waitFor({ state: "detached" });
    await inspect();
  });

  it("goes on in a frame of a page that may have it, as the page on the portal shows it", async (context) => {
    const parent = createServer();
    context.after(() => parent.close());
    const port = await listen(parent);
    const service = await startTestService({
      env: { PORTAL_FRAME_ANCESTORS: `http://127.0.0.1:${port}` },
      receiver: portal().service.receiver,
    });
    context.after(() => service.stop());
    const guide = await readFile(join(import.meta.dirname, "..", "..", "docs", "portal.md"), "utf8");
    const [, html = ""] = /```html\n([^]*?)```/.exec(guide) ?? [];
    parent.on("request", (request, response) => {
      if (request.url !== "/webhooks-portal-url")
        return response.setHeader("Content-Type", "text/html").end(html);
      return void codeUrl(service, "/endpoints").then((url) => response.end(JSON.stringify({ url })));
    });

    const { page } = await portal().open("", { isSignedIn: false });
    await page.goto(`http://127.0.0.1:${port}/`);
    const frame = page.frameLocator("#portal");
    await frame.getByText("No endpoint yet").waitFor();
    // Ended elsewhere, the session is renewed with a code that the page around it asks for.
    const opened = page.waitForResponse(
      (answer) => answer.url().endsWith("/api/portal/sessions") && answer.request().method() === "POST",
    );
    const [inner] = page.frames().slice(1);
    const kept: unknown = await inner?.evaluate(KEPT_TOKEN);
    const headers = { authorization: `Bearer ${String(kept)}` };
    await service.call("DELETE", "/api/portal/sessions", { as: null, headers });
    await frame.getByRole("link", { name: "Add endpoint" }).first().click();
    assert.equal((await opened).status(), 201);
    await frame.getByRole("heading", { name: "Add endpoint" }).waitFor();

    const refused = page.waitForEvent("console", (message) => message.text().includes("frame-ancestors"));
    await page.goto(`http://localhost:${port}/`);
    await refused;
  });
});
