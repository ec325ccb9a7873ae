/** What leads on from an open delivery: its keys, and the check of its signature. */
import assert from "node:assert/strict";
import { it } from "node:test";
import * as z from "zod";
import { seedDeliveries } from "../../bench/seed.ts";
import { eventually } from "../../test/support/eventually.ts";
import { describePortal } from "./support/portal.ts";
import { addEndpoint, deliveriesOf, prepare, publish } from "./support/tenant.ts";

describePortal(
  "an open delivery",
  {
    env: { RETRY_SCHEDULE: "0s,1h", RATE_LIMIT_WRITES: "0" },
    respond: ({ path }) => ({ status: path === "/fails" ? 503 : 200 }),
  },
  (portal) => {
    it("lists its keys by ?, and takes none of them while another dialog is open", async () => {
      await prepare(portal(), "keys", 2);
      const { page, inspect } = await portal().open("/log?status=failed", { grant: { tenant_id: "keys" } });
      await page.getByRole("list", { name: "Deliveries" }).getByRole("link").first().click();
      const drawer = page.getByRole("dialog", { name: "invoice.paid" });
      await drawer.getByRole("button", { name: "Send again" }).waitFor();
      const url = page.url();
      await page.keyboard.press("?");
      const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
      await help.getByText("Send again").waitFor();
      assert.equal(await help.getByText("Search", { exact: true }).count(), 0);
      await inspect("delivery-shortcuts");
      await page.keyboard.press("j");
      await page.keyboard.press("r");
      await page.keyboard.press("Escape");
      await help.waitFor({ state: "detached" });
      assert.equal(page.url(), url);
      assert.equal((await deliveriesOf(portal(), "keys", "trigger=retry")).length, 0);
      await page.keyboard.press("j");
      await page.waitForURL((now) => now.href !== url && now.searchParams.has("d"));
    });

    it("is offered to another endpoint than its own", async () => {
      const [works, fails] = await prepare(portal(), "others", 1);
      const { id: disabled } = await addEndpoint(portal(), "others", "/disabled");
      const as = { type: "user", tid: "others", sub: "ada", role: "owner" };
      const path = `/api/webhooks/${disabled}`;
      const { status: code } = await portal().service.call("PATCH", path, { as, json: { enabled: false } });
      assert.equal(code, 200);
      for (const [status, own, id] of [
        ["failed", fails.id, works.id],
        ["delivered", works.id, fails.id],
      ] as const) {
        const { page } = await portal().open(`/log?status=${status}`, { grant: { tenant_id: "others" } });
        await page.locator("[data-row]").first().click();
        await page.getByRole("button", { name: "To another endpoint …" }).click();
        const offer = page.getByRole("dialog", { name: "Send this event to another endpoint" });
        const choice = offer.getByLabel("Endpoint");
        await choice.locator(`option[value="${id}"]`).waitFor({ state: "attached" });
        assert.equal(await choice.inputValue(), id);
        assert.equal(await choice.locator("option").count(), 2);
        // It may be its own too.
        await choice.selectOption(own);
        const asked = page.waitForRequest(/\/send$/);
        await offer.getByRole("button", { name: "Send", exact: true }).click();
        assert.deepEqual((await asked).postDataJSON(), { endpoint_id: own });
        await page.getByText("The event is on its way").waitFor();
      }
    });

    it("leaves the log where it was", async () => {
      const { id } = await addEndpoint(portal(), "deep", "/works");
      const { pool } = portal().service.database;
      const sql = async (text: string, values?: unknown[]) => (await pool.query(text, values)).rows;
      const row = { tenant: "'deep'", endpoint: `'${id}'::uuid`, isFailed: "false" };
      await seedDeliveries({ sql }, { total: 50, days: 1 }, row);
      const { page } = await portal().open("/log?range=7d", { grant: { tenant_id: "deep" } });
      const drawer = page.getByRole("dialog", { name: "invoice.paid" });
      const top = () => page.evaluate("scrollY");
      await page.locator("[data-row]").first().waitFor();
      for (let n = 0; n < 40; n++) await page.keyboard.press("j");
      await page.locator('[aria-posinset="40"] [data-row]:focus').waitFor();
      const before = await top();
      assert.notEqual(before, 0);
      await page.keyboard.press("o");
      await drawer.getByText("Timeline").waitFor();
      assert.equal(await top(), before);
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
      await page.locator('[aria-posinset="38"] [data-row]').click();
      await drawer.getByText("Timeline").waitFor();
      assert.equal(await top(), before);
      await drawer.getByRole("button", { name: "Older" }).click();
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
      assert.equal(await top(), before);
    });

    it("is copied as curl also where the browser has no clipboard, as without TLS", async () => {
      await prepare(portal(), "copies", 1);
      const { page } = await portal().open("/log?status=failed", { grant: { tenant_id: "copies" } });
      await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })');
      await page.locator("[data-row]").click();
      const button = page.getByRole("button", { name: "Copy as curl" });
      const { width } = (await button.boundingBox()) ?? {};
      await button.click();
      const copied = page.getByRole("button", { name: "Copied", exact: true });
      assert.equal((await copied.boundingBox())?.width, width, "what is beside the button would move");
      const other = await page.context().newPage();
      await other.goto(`${portal().service.url}/portal`);
      assert.match(String(await other.evaluate("navigator.clipboard.readText()")), /^curl /);
    });

    it("leads to its neighbours in the log, also when the log's filters leave it out", async () => {
      await prepare(portal(), "neighbours", 2);
      // Newest first; the filter leaves out those at /works.
      const all = await deliveriesOf(portal(), "neighbours");
      const left = all.filter(({ status }) => status === "delivered")[1];
      const [newest, oldest] = all.filter(({ status }) => status === "failed");
      const { page } = await portal().open(`/log?status=failed&d=${left?.id}`, {
        grant: { tenant_id: "neighbours" },
      });
      const drawer = page.getByRole("dialog");
      const newer = drawer.getByRole("button", { name: "Newer" });
      const older = drawer.getByRole("button", { name: "Older" });
      const isAt = (id: string | undefined) => page.waitForURL((url) => url.searchParams.get("d") === id);
      await page.locator("[data-row]").nth(1).waitFor();
      await newer.click();
      const above = all.findLast(({ id, status }) => status === "failed" && id > (left?.id ?? ""));
      await isAt(above?.id);
      await page.goto(`${portal().service.url}/portal/log?status=failed&d=${oldest?.id}`);
      await page.locator("[data-row]").nth(1).waitFor();
      await drawer.getByText("Timeline").waitFor();
      assert.equal(await older.getAttribute("aria-disabled"), "true");
      await newer.click();
      await isAt(newest?.id);
      assert.equal(await newer.getAttribute("aria-disabled"), "true");
      await older.click();
      await isAt(oldest?.id);
    });

    it("goes on to rows of the log that were not read yet", async () => {
      const { id } = await addEndpoint(portal(), "long", "/works");
      const { pool } = portal().service.database;
      const sql = async (text: string, values?: unknown[]) => (await pool.query(text, values)).rows;
      const row = { tenant: "'long'", endpoint: `'${id}'::uuid`, isFailed: "false" };
      await seedDeliveries({ sql }, { total: 60, days: 1 }, row);
      const all = await deliveriesOf(portal(), "long", "limit=60");
      const { page } = await portal().open("/log?range=7d", { grant: { tenant_id: "long" } });
      await page.locator("[data-row]").first().click();
      const drawer = page.getByRole("dialog", { name: "invoice.paid" });
      for (const { id: did } of all.slice(1)) {
        await drawer
          .getByRole("button", { name: "Older" })
          .and(page.locator(":not([aria-disabled])"))
          .click();
        await page.waitForURL((url) => url.searchParams.get("d") === did);
      }
      await drawer.getByRole("button", { name: "Newer" }).click();
      await page.waitForURL((url) => url.searchParams.get("d") === all.at(-2)?.id);
    });

    it("leads to the check of its signature, which takes the command of curl", async () => {
      const endpoint = await addEndpoint(portal(), "checks", "/works");
      const rotated = await portal().service.call("POST", `/api/webhooks/${endpoint.id}/rotate-secret`, {
        as: { type: "user", tid: "checks", sub: "ada", role: "owner" },
      });
      const { secret } = z.object({ secret: z.string() }).parse(rotated.body);
      const note = 'it\'s a \\ "note" with $signs,\nlines and `ticks`';
      await publish(portal(), "checks", note);
      await eventually(async () => (await deliveriesOf(portal(), "checks", "status=delivered")).length === 1);
      const { page, inspect } = await portal().open("/log", { grant: { tenant_id: "checks" } });
      await page.getByRole("list", { name: "Deliveries" }).getByRole("link").first().click();
      await page.getByRole("button", { name: "Copy as curl" }).click();
      const command = z.string().parse(await page.evaluate("navigator.clipboard.readText()"));
      await page.getByRole("link", { name: "Check signature" }).click();
      await page.waitForURL(new RegExp(`/endpoints/${endpoint.id}/secret\\?tab=debug&delivery=`));
      const headers = page.getByLabel("Headers", { exact: true });
      const body = page.getByLabel("Body", { exact: true });
      const sent = await body.inputValue();
      assert.ok(sent.includes(JSON.stringify(note)));
      await page.getByLabel("Secret", { exact: true }).fill(secret);
      await page.getByText("The signature is right. A receiver accepts this request.").waitFor();
      await page.goto(`${portal().service.url}/portal/endpoints/${endpoint.id}/secret?tab=debug`);
      await page.getByLabel("Secret", { exact: true }).fill(secret);
      await headers.focus();
      await page.keyboard.insertText(command);
      await page.getByText("The signature is right. A receiver accepts this request.").waitFor();
      assert.equal(await body.inputValue(), sent);
      assert.match(await headers.inputValue(), /^Content-Type: application\/json\n/);
      await inspect("debugger-curl");
    });
  },
);
