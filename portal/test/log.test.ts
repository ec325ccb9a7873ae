/** The delivery log: filters, live tail, the drawer of one delivery. */
import assert from "node:assert/strict";
import { it } from "node:test";
import * as z from "zod";
import { seedDeliveries } from "../../bench/seed.ts";
import { eventually } from "../../test/support/eventually.ts";
import { dragOver } from "./support/chart.ts";
import { describePortal } from "./support/portal.ts";
import { addEndpoint, deliveriesOf, prepare, publish } from "./support/tenant.ts";

/** An answer with HTML, NUL and a megabyte behind it. */
const HUGE = `<b>bold</b>\u0000\u202E${"<i>x</i>".repeat(131_072)}`;
const HOSTILE = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u202Eright to left\u0001`;

describePortal(
  "the portal's log",
  {
    env: { RETRY_SCHEDULE: "0s,1h", RATE_LIMIT_WRITES: "0" },
    respond: ({ path }) =>
      path === "/huge"
        ? { status: 500, body: HUGE, headers: { "content-type": "text/html" } }
        : path === "/fails"
          ? { status: 503, body: HOSTILE, headers: { "x-trace": "<b>bold</b>" } }
          : { status: 200, body: "thanks" },
  },
  (portal) => {
    it("says that nothing was sent yet", async () => {
      const { page, inspect } = await portal().open("/log", { grant: { tenant_id: "empty" } });
      await page.getByText("No deliveries in this time").waitFor();
      await inspect("log-empty");
      await page.goto(`${portal().service.url}/portal/log?status=failed&range=1h`);
      await page.getByText("Nothing matches").waitFor();
      await inspect("log-nothing-of-hour");
      await page.getByRole("button", { name: "Look at 30 days" }).click();
      await page.waitForURL(/status=failed&range=30d/);
      await page.getByText("Nothing matches").waitFor();
      assert.equal(await page.getByRole("button", { name: "Look at 30 days" }).count(), 0);
      await page.getByText("The bars count all attempts").waitFor();
    });

    it("tells endpoints of the same URL apart by what they are described as", async () => {
      const grant = { tenant_id: "twins" };
      await addEndpoint(portal(), "twins", "/works", { description: "Books" });
      const { id } = await addEndpoint(portal(), "twins", "/works");
      await addEndpoint(portal(), "twins", "/fails", { description: "Alone" });
      const same = { description: "Twice" };
      const twice = [
        await addEndpoint(portal(), "twins", "/works", same),
        await addEndpoint(portal(), "twins", "/works", same),
      ];
      const { page, inspect } = await portal().open("/log", { grant });
      const options = page.getByRole("combobox", { name: "Endpoint" }).getByRole("option");
      await eventually(async () => (await options.count()) === 6);
      const names = await options.allTextContents();
      const { host } = new URL(portal().service.receiver.url);
      assert.deepEqual(
        names.slice(1).toSorted(),
        [
          `/fails · ${host}`,
          `${id.slice(-6)} · /works · ${host}`,
          `Books · /works · ${host}`,
          ...twice.map((one) => `Twice ${one.id.slice(-6)} · /works · ${host}`),
        ].toSorted(),
      );
      await publish(portal(), "twins", "one");
      await page.reload();
      const rows = page.getByRole("list", { name: "Deliveries" });
      for (const name of [`Books · ${host}/works`, `${id.slice(-6)} · ${host}/works`])
        await rows.getByText(name, { exact: true }).first().waitFor();
      assert.equal(await rows.getByText(`${host}/works`, { exact: true }).count(), 0);
      await inspect("log-twins");
    });

    it("shows what was delivered and what failed, and filters it by the URL", async () => {
      const [works] = await prepare(portal(), "filters", 3);
      const { page, inspect } = await portal().open("/log", { grant: { tenant_id: "filters" } });
      const rows = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
      await page.getByText("That is all of this time.").waitFor();
      // Three events at two endpoints, and the next attempts of those that failed.
      assert.equal(await rows.count(), 9);
      assert.equal(await rows.filter({ hasText: "not yet" }).count(), 3);
      await inspect("log");
      await page.getByLabel("Status").selectOption("failed");
      await rows.nth(2).waitFor();
      await eventually(async () => (await rows.count()) === 3);
      // Heard: the focus stays in the filter.
      await page.getByRole("status").filter({ hasText: "3 deliveries" }).waitFor();
      assert.match(page.url(), /status=failed/);
      await page.getByLabel("Answer or cause").selectOption("http_503");
      await eventually(async () => (await rows.count()) === 3);
      await page.getByLabel("Endpoint").selectOption(works.id);
      await page.getByText("Nothing matches").waitFor();
      await page.getByRole("status").filter({ hasText: "0 deliveries" }).waitFor();
      await inspect("log-nothing");
      await page.reload();
      await page.getByText("Nothing matches").waitFor();
      await page.getByRole("button", { name: "Clear filters" }).first().click();
      await eventually(async () => (await rows.count()) === 9);
      await page.getByRole("searchbox").fill("number 2");
      await page.keyboard.press("Enter");
      await eventually(async () => (await rows.count()) === 3);
    });

    it("leaves rows where they are while new ones come, and shows these when one asks", async () => {
      await prepare(portal(), "live", 1);
      const { page, inspect } = await portal().open("/log", { grant: { tenant_id: "live" } });
      await page.getByText("Live", { exact: true }).waitFor();
      const rows = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
      await eventually(async () => (await rows.count()) === 3);
      // By their addresses: how long a pending one has to wait is another text now and then.
      const places = () => rows.getByRole("link").evaluateAll("(links) => links.map(({ href }) => href)");
      const before = await places();
      await publish(portal(), "live", "new");
      await page.getByRole("button", { name: "Show 2 new deliveries" }).waitFor();
      assert.deepEqual(await places(), before);
      await inspect("log-new");
      await page.getByRole("button", { name: "Show 2 new deliveries" }).press("Enter");
      await eventually(async () => (await rows.count()) === 5);
      assert.equal(await page.evaluate("document.activeElement.getAttribute('aria-label')"), "Deliveries");
      await inspect();
    });

    it("reads on in a long log, whose rows stay in place and are reached by keys", async () => {
      const works = await addEndpoint(portal(), "long", "/works");
      const { pool } = portal().service.database;
      const sql = async (text: string, values?: unknown[]) => (await pool.query(text, values)).rows;
      const row = { tenant: "'long'", endpoint: `'${works.id}'::uuid`, isFailed: "n % 20 = 0" };
      await seedDeliveries({ sql }, { total: 600, days: 1 }, row);
      const { page } = await portal().open("/log?range=7d", { grant: { tenant_id: "long" } });
      const list = page.getByRole("list", { name: "Deliveries" });
      await list.getByRole("link").first().waitFor();
      await page.getByText("Live", { exact: true }).waitFor();
      const at = async (place: number) => {
        const found = list.locator(`[aria-posinset="${place}"]`);
        return { text: await found.textContent(), box: await found.boundingBox() };
      };
      await page.mouse.move(600, 600);
      const last = `Math.max(...[...document.querySelectorAll("main [aria-posinset]")].map((row) => Number(row.getAttribute("aria-posinset"))))`;
      await eventually(async () => {
        if ((await list.locator('[aria-posinset="220"]').count()) === 1) return true;
        // A slow machine may scroll past it.
        await page.mouse.wheel(0, Number(await page.evaluate(last)) < 220 ? 1000 : -1000);
        return false;
      });
      await page.evaluate("new Promise((resolve) => setTimeout(resolve, 500))");
      assert.ok((await list.getByRole("listitem").count()) < 80);
      const before = await at(220);
      await publish(portal(), "long", "new");
      await page.getByRole("button", { name: "Show 1 new delivery" }).waitFor();
      assert.deepEqual(await at(220), before);
      await list.locator('[aria-posinset="220"] a').focus();
      for (let n = 0; n < 60; n++) await page.keyboard.press("j");
      const focused = "document.activeElement.closest('[aria-posinset]')?.getAttribute('aria-posinset')";
      await eventually(async () => (await page.evaluate(focused)) === "280");
      await page.keyboard.press("Enter");
      await page.waitForURL(/d=[0-9a-f-]{36}/);
    });

    it("opens a delivery by keys, in words, with what was sent and answered as text", async () => {
      await prepare(portal(), "drawer", 1);
      const { page, inspect } = await portal().open("/log?status=failed", { grant: { tenant_id: "drawer" } });
      await page.getByRole("list", { name: "Deliveries" }).getByRole("listitem").waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      const drawer = page.getByRole("dialog");
      await drawer.getByText("The receiver is not available").waitFor();
      assert.match(page.url(), /d=[0-9a-f-]{36}/);
      await drawer.getByText("Next attempt").waitFor();
      await drawer.getByText("<b>bold</b>").waitFor();
      const body = await drawer.getByLabel("Answer 503: Body").textContent();
      assert.ok(body?.includes("<script>alert(2)</script>"), body ?? "");
      await inspect("delivery");
      await page.reload();
      await drawer.getByText("The receiver is not available").waitFor();
      await drawer.getByRole("button", { name: "Copy as curl" }).click();
      const line = z.string().parse(await page.evaluate("navigator.clipboard.readText()"));
      assert.match(
        line,
        /^curl -X POST 'https:\/\/127\.0\.0\.1:\d+\/fails' \\\n {2}-H 'Content-Type: application\/json'/,
      );
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
      assert.doesNotMatch(page.url(), /[?&]d=/);
      await inspect();
    });

    it("shows a body of a megabyte as text, and an answer with NUL", async () => {
      const fails = await addEndpoint(portal(), "huge", "/huge");
      const note = `<img src=x onerror="alert(1)">\u202E${"<p>".repeat(300_000)}the end`;
      await publish(portal(), "huge", note);
      await eventually(async () => {
        const log = await deliveriesOf(portal(), "huge", "status=failed");
        return log.length === 1;
      });
      const { page } = await portal().open(`/log?endpoint=${fails.id}`, { grant: { tenant_id: "huge" } });
      await page.getByRole("list", { name: "Deliveries" }).getByRole("link").last().click();
      const drawer = page.getByRole("dialog");
      const answer = await drawer.getByLabel("Answer 500: Body").textContent();
      assert.ok(answer?.startsWith("<b>bold</b>\uFFFD\u202E<i>x</i>"), answer?.slice(0, 40));
      assert.equal(answer?.length, 1000);
      const sent = await drawer.getByLabel("Request: Body").textContent();
      assert.ok(sent?.includes(JSON.stringify(note).slice(1, 60)));
      assert.ok((sent?.length ?? 0) > 900_000);
    });

    it("sends a failed delivery again by r, and an event to another endpoint", async () => {
      const [works] = await prepare(portal(), "again", 1);
      const { page, inspect } = await portal().open("/log?status=failed", { grant: { tenant_id: "again" } });
      await page.getByRole("list", { name: "Deliveries" }).getByRole("link").first().click();
      const drawer = page.getByRole("dialog");
      await drawer.getByRole("button", { name: "Send again" }).waitFor();
      await page.keyboard.press("r");
      await page.getByText("It failed again").waitFor();
      await inspect("delivery-retried");
      await drawer.getByRole("button", { name: "To another endpoint" }).click();
      await page.getByText("Send this event to another endpoint").waitFor();
      await inspect("delivery-send");
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByText("The event is on its way").waitFor();
      await eventually(async () => {
        const log = await deliveriesOf(portal(), "again", `endpoint_id=${works.id}`);
        return log.filter(({ status }) => status === "delivered").length === 2;
      });
    });

    it("shows a session that may read only no way to send", async () => {
      await prepare(portal(), "reader", 1);
      const { page, inspect } = await portal().open("/log?status=failed", {
        grant: { tenant_id: "reader", read_only: true },
      });
      await page.getByRole("list", { name: "Deliveries" }).getByRole("link").first().click();
      await page.getByRole("dialog").getByText("The receiver is not available").waitFor();
      assert.equal(await page.getByRole("button", { name: "Send again" }).count(), 0);
      await inspect();
    });

    it("looks at a time of one's own, typed in the zone in which times are shown", async () => {
      await prepare(portal(), "times", 1);
      const { page, inspect } = await portal().open("/log", { grant: { tenant_id: "times" } });
      await page.getByText("That is all of this time.").waitFor();
      await page.getByRole("button", { name: "Display" }).click();
      await page.getByRole("menuitemradio", { name: "UTC" }).click();
      await page.keyboard.press("Escape");
      await page.locator("label", { hasText: "Other" }).click();
      await page.waitForURL(/from=.*to=/);
      await page.getByLabel("From").fill("2026-01-02T03:04");
      await page.getByLabel("To", { exact: true }).fill("2026-01-01T00:00");
      await page.getByText("It must be after the first.").waitFor();
      // The chart is pale while it still shows the time of before.
      await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
      await inspect("log-times");
      await page.getByLabel("To", { exact: true }).fill("");
      await page.getByLabel("From").fill("2199-01-02T03:04");
      await page.getByText("It is in the future.").waitFor();
      await page.keyboard.press("Enter");
      assert.doesNotMatch(page.url(), /2199/);
      await inspect("log-future");
      await page.getByLabel("From").fill("2026-01-02T03:04");
      await page.getByLabel("To", { exact: true }).fill("2026-01-03T00:00");
      await page.keyboard.press("Enter");
      await page.waitForURL(/from=2026-01-02T03%3A04%3A00.000Z&to=2026-01-03T00%3A00%3A00.000Z/);
      await page.getByText("No deliveries in this time").waitFor();
      await page.reload();
      assert.equal(await page.getByLabel("From").inputValue(), "2026-01-02T03:04");
      await page.getByLabel("To", { exact: true }).fill("");
      await page.keyboard.press("Enter");
      await page.getByText("That is all of this time.").waitFor();
      assert.doesNotMatch(page.url(), /[?&]to=/);
      await page.locator("label", { hasText: "1 hour" }).click();
      await page.waitForURL(/range=1h/);
      assert.equal(await page.getByLabel("From").count(), 0);
    });

    it("shows the year of what was sent in another one", async () => {
      await prepare(portal(), "years", 1);
      const { page, inspect } = await portal().open("/log", { grant: { tenant_id: "years" } });
      await page.getByText("That is all of this time.").waitFor();
      const year = String(new Date().getFullYear());
      const times = page.locator("[data-row] time");
      assert.ok(!(await times.allInnerTexts()).some((text) => text.includes(year)));
      await page.route(/\/api\/deliveries\?/, async (route) => {
        const answer = await route.fetch();
        await route.fulfill({
          response: answer,
          body: (await answer.text()).replaceAll(`"${year}-`, '"2019-'),
        });
      });
      await page.reload();
      await times.first().waitFor();
      for (const text of await times.allInnerTexts()) assert.match(text, /2019, /);
      await inspect("log-years");
    });

    it("looks at a part of the time that one drags over in the chart", async () => {
      await prepare(portal(), "chart", 2);
      const { page } = await portal().open("/log", { grant: { tenant_id: "chart" } });
      const chart = page.getByRole("img", { name: "2 delivered and 2 failed in this time" });
      await dragOver(chart);
      await page.waitForURL(/from=.*to=/);
      await page.getByText("No deliveries in this time").waitFor();
      await page.locator("label", { hasText: "24 hours" }).click();
      await page.getByText("That is all of this time.").waitFor();
    });
  },
);
