/** How a session comes about, goes on and ends, and who gets to see what. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { it } from "node:test";
import { codeAnswer } from "../../src/api/portal-schemas.ts";
import { makeSecrets } from "../../src/config.ts";
import { GRANT, OPERATOR } from "../../test/support/portal.ts";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { startTestService } from "../../test/support/service.ts";
import { listen } from "../../test/support/tls-receiver.ts";
import { freePort } from "../../test/support/free-port.ts";
import { codeUrl, describePortal } from "./support/portal.ts";
import { addEndpoint } from "./support/tenant.ts";

/** Runs in the page. */
const NO_STORAGE = `for (const name of ["sessionStorage", "localStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("refused", "SecurityError"); } });`;
const KEPT_TOKEN = 'JSON.parse(sessionStorage.getItem("postern.session")).token';

/** As Traefik answers while a container is started again. */
const ABSENT = { status: 404, contentType: "text/plain", body: "404 page not found" };

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

  it("begins on the page that the code was asked for, narrowed as its path says", async () => {
    const json = { ...GRANT, path: "/log?status=failed&q=a%26b" };
    const { body } = await portal().service.call("POST", "/api/portal/codes", { as: OPERATOR, json });
    const { page, inspect } = await portal().open("", { url: codeAnswer.parse(body).url });
    await page.getByText("Nothing matches").waitFor();
    assert.equal(await page.getByLabel("Status").inputValue(), "failed");
    assert.equal(await page.getByRole("searchbox").inputValue(), "a&b");
    assert.equal(new URL(page.url()).pathname, "/hooks/portal/log");
    assert.equal(new URL(page.url()).hash, "");
    await inspect();
  });

  it("works where the browser refuses storage, as in a frame of another site", async () => {
    const { page, inspect } = await portal().open("/endpoints", { isSignedIn: false });
    await page.addInitScript({ content: NO_STORAGE });
    await page.goto("about:blank");
    await page.goto(await codeUrl(portal().service, "/endpoints", { tenant_id: "stateless" }));
    await page.getByText("No endpoint yet").waitFor();
    await page.getByRole("button", { name: "Display" }).click();
    await page.getByRole("menuitemradio", { name: "Dark" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Add endpoint" }).first().click();
    await page.getByRole("textbox", { name: "URL" }).fill(portal().service.receiver.url);
    await page.getByRole("checkbox", { name: /All events/ }).check();
    await page.getByRole("button", { name: "Create endpoint" }).click();
    await page.getByRole("button", { name: /stored/i }).click();
    await page
      .getByRole("heading", { level: 1, name: new URL(portal().service.receiver.url).host })
      .waitFor();
    await page.getByRole("link", { name: "Test" }).click();
    await page.getByRole("button", { name: "Send test" }).click();
    await page.getByText("Accepted").first().waitFor();
    await inspect();
    await page.getByRole("button", { name: "Display" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByText("You are signed out").waitFor();
  });

  it("lasts as long on a computer whose clock is wrong", async () => {
    for (const minutes of [-60, 14, 60]) {
      const { page } = await portal().open("/endpoints", { isSignedIn: false });
      let renewals = 0;
      page.on("request", (request) => (renewals += Number(request.url().endsWith("/renew"))));
      await page.clock.install({ time: Date.now() + minutes * 60_000 });
      await page.goto(await codeUrl(portal().service, "/endpoints"));
      await page.getByRole("heading", { name: "Endpoints" }).waitFor();
      await page.clock.fastForward("12:00");
      await page.reload();
      await page.getByRole("heading", { name: "Endpoints" }).waitFor();
      assert.equal(renewals, 0);
      await page.clock.fastForward("02:00");
      await eventually(async () => renewals === 1);
      await page.getByRole("link", { name: "Deliveries" }).click();
      await page.getByRole("heading", { name: "Deliveries" }).waitFor();
      assert.equal(renewals, 1);
    }
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

  it("shows nothing of another tenant that was open in its tab before", async () => {
    await addEndpoint(portal(), "former", "/former", { events: ["*"] });
    const { page } = await portal().open("/endpoints", { grant: { tenant_id: "former" } });
    const former = page.getByText(/\/former$/);
    await former.first().waitFor();
    const opened = page.waitForResponse((answer) => answer.url().endsWith("/api/portal/sessions"));
    await page.goto(await codeUrl(portal().service, "/endpoints", { tenant_id: "latter" }));
    assert.equal((await opened).status(), 201);
    await page.getByText("No endpoint yet").or(former).first().waitFor();
    assert.equal(await former.count(), 0);
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

  for (const [what, refused] of [
    ["was one call too many", { status: 429 }],
    ["met a proxy that has no service at the moment", ABSENT],
  ] as const)
    it(`goes on where its renewal ${what}, and is renewed a moment later`, async () => {
      const given = { isSignedIn: false, expects: /status of (?:429|404)/ };
      const { page } = await portal().open("/endpoints", given);
      const renew = /\/api\/portal\/sessions\/renew$/;
      const renewals: number[] = [];
      page.on("response", (answer) => {
        if (renew.test(answer.url())) renewals.push(answer.status());
      });
      await page.route(renew, (route) => route.fulfill(refused), { times: 1 });
      await page.clock.install();
      await page.goto(await codeUrl(portal().service, "/endpoints"));
      await page.getByRole("heading", { name: "Endpoints" }).waitFor();
      await page.clock.fastForward("13:05");
      await eventually(async () => renewals.length === 1);
      // How soon the page has read the answer is unknown, so more than one step may be needed.
      await eventually(async () => {
        assert.equal(await page.getByText("Your session has ended").count(), 0);
        await page.clock.fastForward("00:10");
        return renewals.length === 2;
      });
      assert.deepEqual(renewals, [refused.status, 200]);
    });

  it("comes back by itself where a proxy had no service for a moment, and does not take that for a thing that is gone", async () => {
    const { page } = await portal().open("/endpoints", { expects: /status of 404/ });
    await page.getByText("No endpoint yet").waitFor();
    await page.route(/\/api\/storage\/exports/, (route) => route.fulfill(ABSENT), { times: 2 });
    await page.getByRole("link", { name: "Exports and files" }).click();
    await page.getByText("The service cannot be reached.").waitFor();
    await page.getByText("No export yet").waitFor();
  });

  it("ends with its token where the service renews it no more, and not before", async () => {
    const { page } = await portal().open("/endpoints", { isSignedIn: false, expects: /status of 503/ });
    await page.route(/\/api\/portal\/sessions\/renew$/, (route) => route.fulfill({ status: 503 }));
    await page.clock.install();
    await page.goto(await codeUrl(portal().service, "/endpoints"));
    await page.getByRole("heading", { name: "Endpoints" }).waitFor();
    await page.clock.fastForward("14:00");
    assert.equal(await page.getByText("Your session has ended").count(), 0);
    await eventually(async () => {
      await page.clock.fastForward("00:10");
      return (await page.getByText("Your session has ended").count()) === 1;
    });
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
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    // The page's own key that changes nothing is there.
    await help.getByText("Filter the list").waitFor();
    assert.equal(await help.getByText("Add an endpoint").count(), 0);
    await page.keyboard.press("Escape");
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
