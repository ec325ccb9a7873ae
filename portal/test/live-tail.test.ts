/** The log under an open page: bursts, reading anew, and a stream that ends. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Page } from "playwright-core";
import { eventually } from "../../test/support/eventually.ts";
import { codeUrl, describePortal, type Portal } from "./support/portal.ts";
import { addEndpoint, deliveriesOf, publish } from "./support/tenant.ts";

const BURST = 120;
/** One request looks at 5,000 rows at most. */
const MORE_THAN_SEARCHED = 6000;
const NOTICE = "More came than could be shown.";

/** Deliveries in one statement: as a rule more than the stream names at once, and more than a page has. */
async function burst(portal: Portal, tid: string, endpointId: string, count = BURST): Promise<void> {
  await portal.service.database.pool.query(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_headers, response_status, latency_ms, sent_at)
      SELECT $1, $2, postern.uuid_v7(), gen_random_uuid(), 'invoice.paid', 'event', 'delivered', 1, '{}', 200, 5, now()
      FROM generate_series(1, $3)`,
    [tid, endpointId, count],
  );
}

const rowsOf = (page: Page) => page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");

async function openLog(portal: Portal, tid: string, path = "/log") {
  const visit = await portal.open(path, { grant: { tenant_id: tid } });
  await visit.page.getByText("Live", { exact: true }).waitFor();
  return visit;
}

/** Publishes an event, and answers its delivery. */
async function publishDelivered(portal: Portal, tid: string): Promise<string> {
  const before = (await deliveriesOf(portal, tid, "status=delivered&limit=1"))[0]?.id;
  await publish(portal, tid, "new");
  return eventually(async () => {
    const [newest] = await deliveriesOf(portal, tid, "status=delivered&limit=1");
    return newest !== undefined && newest.id !== before && newest.id;
  });
}

describePortal("the portal's live tail", { env: { RATE_LIMIT_WRITES: "0" } }, (portal) => {
  for (const [name, path] of [
    ["the last 24 hours", "/log"],
    ["a time of one's own", `/log?from=${new Date(Date.now() - 3_600_000).toISOString()}`],
  ] as const) {
    it(`reads anew after a burst in ${name}, and then goes on`, async () => {
      const tid = path === "/log" ? "burst" : "burst-own";
      const endpoint = await addEndpoint(portal(), tid, "/works");
      const { page, inspect } = await openLog(portal(), tid, path);
      await page.getByText("No deliveries in this time").waitFor();
      await burst(portal(), tid, endpoint.id);
      await page.getByText(NOTICE).waitFor();
      await inspect(path === "/log" ? "log-burst" : undefined);
      await page.getByRole("button", { name: "Read anew" }).click();
      await eventually(async () => (await rowsOf(page).count()) > 0);
      await page.getByText(NOTICE).waitFor({ state: "detached" });
      const id = await publishDelivered(portal(), tid);
      await page.getByRole("button", { name: "Show 1 new delivery" }).click();
      await rowsOf(page).first().locator(`a[href*="${id}"]`).waitFor();
      await page.getByRole("button", { name: /^Show/ }).waitFor({ state: "detached" });
      await burst(portal(), tid, endpoint.id);
      await page.getByText(NOTICE).waitFor();
    });
  }

  it("is opened anew where not even a ping is heard any more, as from a host that is gone", async () => {
    const grant = { tenant_id: "unheard" };
    await addEndpoint(portal(), "unheard", "/works");
    const { page } = await portal().open("/log", { isSignedIn: false });
    let opened = 0;
    page.on("request", (request) => {
      if (request.url().includes("/api/deliveries/stream")) opened++;
    });
    await page.clock.install();
    await page.goto(await codeUrl(portal().service, "/log", grant));
    await page.getByText("Live", { exact: true }).waitFor();
    await page.clock.fastForward("00:30");
    await publishDelivered(portal(), "unheard");
    await page.getByRole("button", { name: "Show 1 new delivery" }).waitFor();
    await page.clock.fastForward("00:30");
    assert.equal(opened, 1);
    await page.clock.fastForward("00:45");
    await eventually(async () => opened === 2);
    await page.getByText("Live", { exact: true }).waitFor();
  });

  it("misses nothing where a search has not come to the end of the log", async () => {
    const endpoint = await addEndpoint(portal(), "searching", "/works");
    await burst(portal(), "searching", endpoint.id, MORE_THAN_SEARCHED);
    // Another page first: of the log opened twice, an answer to the first could be counted for the second.
    const { page } = await portal().open("/audit", { grant: { tenant_id: "searching" } });
    let answers = 0;
    page.on("response", (response) => {
      if (/\/api\/deliveries\?/.test(response.url())) answers++;
    });
    await page.goto(`${portal().service.url}/portal/log?type=invoice.voided`);
    await page.getByRole("button", { name: "Search on" }).waitFor();
    // That of the log, and that of the stream's opening; then what they lead to is shown.
    await eventually(async () => answers >= 2);
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");
    assert.equal(await page.getByText(NOTICE).count(), 0);
  });

  it("loses nothing that comes while the log is read anew", async () => {
    const endpoint = await addEndpoint(portal(), "meanwhile", "/works");
    const { page } = await openLog(portal(), "meanwhile");
    const other = await openLog(portal(), "meanwhile");
    await page.getByText("No deliveries in this time").waitFor();
    await burst(portal(), "meanwhile", endpoint.id);
    await page.getByText(NOTICE).waitFor();
    await other.page.getByText(NOTICE).waitFor();
    await other.page.getByRole("button", { name: "Read anew" }).click();
    // The notice goes with the click; the rows come when the log was read.
    await eventually(async () => (await rowsOf(other.page).count()) > 0);
    await other.page.getByText(NOTICE).waitFor({ state: "detached" });
    const isRead = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    await page.route(/\/api\/deliveries\?/, async (route) => {
      const response = await route.fetch();
      isRead.resolve();
      await held.promise;
      await route.fulfill({ response });
    });
    await page.getByRole("button", { name: "Read anew" }).click();
    await isRead.promise;
    await publish(portal(), "meanwhile", "meanwhile");
    // What this page was told, the one that waits was told too.
    await other.page.getByRole("button", { name: "Show 1 new delivery" }).waitFor();
    held.resolve();
    await page.getByRole("button", { name: "Show 1 new delivery" }).click();
    await eventually(async () => (await rowsOf(page).count()) > 0);
  });
});

describePortal(
  "the portal's live tail, whose stream ends soon",
  { env: { RATE_LIMIT_WRITES: "0" }, httpLimits: { streamLifeMs: 500 } },
  (portal) => {
    it("offers what came between two streams, and says nothing where nothing was missed", async () => {
      await addEndpoint(portal(), "ends", "/works");
      const { page } = await openLog(portal(), "ends");
      await page.getByText("No deliveries in this time").waitFor();
      let opened = 0;
      const between = Promise.withResolvers<void>();
      await page.route(/\/api\/deliveries\/stream/, async (route) => {
        opened++;
        if (opened === 2) await between.promise;
        await route.continue();
      });
      await eventually(async () => opened === 2);
      await publishDelivered(portal(), "ends");
      between.resolve();
      await page.getByRole("button", { name: "Show 1 new delivery" }).waitFor();
      await eventually(async () => opened > 3);
      assert.equal(await page.getByText(NOTICE).count(), 0);
      await page.getByRole("button", { name: "Show 1 new delivery" }).click();
      await eventually(async () => (await rowsOf(page).count()) === 1);
      await page.unrouteAll({ behavior: "ignoreErrors" });
    });
  },
);
