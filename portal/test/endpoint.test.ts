/** The page of one endpoint: what happened there, why attempts failed, and replays. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { PRODUCER } from "../../test/support/calls.ts";
import { eventually } from "../../test/support/eventually.ts";
import { dragOver } from "./support/chart.ts";
import { describePortal } from "./support/portal.ts";
import { addEndpoint, deliveriesOf, prepare } from "./support/tenant.ts";

let isMended = false;

describePortal(
  "the portal's page of an endpoint",
  {
    env: { RETRY_SCHEDULE: "0s", RATE_LIMIT_WRITES: "0" },
    respond: ({ path }) => ({ status: path === "/fails" && !isMended ? 500 : 200 }),
  },
  (portal) => {
    it("says why attempts failed, and leads to their deliveries", async () => {
      const [, fails] = await prepare(portal(), "causes", 3);
      const { page, inspect } = await portal().open(`/endpoints/${fails.id}`, {
        grant: { tenant_id: "causes" },
      });
      await page.getByText("The receiver failed").waitFor();
      await page.getByText("Every automatic attempt has failed since").waitFor();
      assert.equal(await page.getByText("Next attempt").count(), 0);
      await page.getByRole("img", { name: "0 delivered and 3 failed in this time" }).waitFor();
      await inspect("endpoint-failing");
      const deliveries = page.getByRole("link", { name: "All deliveries" });
      assert.match((await deliveries.getAttribute("href")) ?? "", new RegExp(`endpoint=${fails.id}`));
      const chart = page.getByRole("img", { name: "0 delivered and 3 failed in this time" });
      await dragOver(chart);
      await page.waitForURL(new RegExp(`/log\\?endpoint=${fails.id}&from=.*&to=`));
      await page.goBack();
      await page.getByRole("link", { name: "The receiver failed" }).click();
      await page.getByRole("heading", { name: "Deliveries" }).waitFor();
      const rows = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
      await eventually(async () => (await rows.count()) === 3);
      assert.match(page.url(), new RegExp(`endpoint=${fails.id}.*cause=http_500`));
    });

    it("shows a session that may only read what happened, and no way to change it", async () => {
      const [, fails] = await prepare(portal(), "reader", 1);
      // As from a link of somebody who may send again.
      const { page, inspect } = await portal().open(`/endpoints/${fails.id}?replay=failed`, {
        grant: { tenant_id: "reader", read_only: true },
      });
      const main = page.getByRole("main");
      await main.getByRole("link", { name: "The receiver failed" }).waitFor();
      await main.getByText("No replay yet.").waitFor();
      await page.waitForLoadState("networkidle");
      assert.equal(await page.getByRole("dialog").count(), 0);
      assert.deepEqual(await main.getByRole("button").allTextContents(), []);
      assert.deepEqual(
        (await main.getByRole("link").allTextContents()).filter((name) => !name.includes("receiver")),
        ["Endpoints", "All deliveries", "Secret"],
      );
      await inspect();
    });

    it("keeps a description of one long word, or from right to left, in its place", async () => {
      const description = `\u202E${"w".repeat(499)}`;
      const { id } = await addEndpoint(portal(), "long", "/works", { description });
      const { page, inspect } = await portal().open(`/endpoints/${id}`, { grant: { tenant_id: "long" } });
      await page.getByText(description).waitFor();
      await inspect();
      await page.getByRole("link", { name: "Endpoints" }).first().click();
      // What stands beside it is not turned around.
      await page.locator("bdi", { hasText: description }).waitFor();
      await inspect();
    });

    it("shows a URL of 2,000 characters short where it is a name, and whole among its settings, with a long event type", async () => {
      const path = `/works/${"a".repeat(900)}?${"b".repeat(1000)}the-end`;
      const { id, url } = await addEndpoint(portal(), "lengthy", path);
      const events = [`area.${"segment_".repeat(30)}`];
      await portal().service.database.pool.query("UPDATE postern.endpoints SET events = $2 WHERE id = $1", [
        id,
        events,
      ]);
      const { page, inspect } = await portal().open(`/endpoints/${id}`, {
        grant: { tenant_id: "lengthy" },
        size: "phone",
      });
      await page.getByText(url, { exact: true }).waitFor();
      const box = await page.getByRole("heading", { level: 1 }).boundingBox();
      assert.ok(box !== null && box.height < 150, `${box?.height} pixels of title`);
      await inspect("endpoint-lengthy");
      await page.getByRole("button", { name: /^Actions for .*the-end$/ }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await page.getByRole("heading", { name: /^Delete .*…b+the-end\?$/ }).waitFor();
      await inspect("endpoint-lengthy-delete");
      await page.getByRole("button", { name: "Delete endpoint" }).click();
      await page.getByText(/the-end was deleted$/).waitFor();
      // The notice outlives the page of the endpoint, and may be there before the list is.
      await page.getByRole("heading", { level: 1, name: "Endpoints" }).waitFor();
      await inspect();
    });

    it("says when its next attempt comes", async () => {
      const late = await addEndpoint(portal(), "late", "/fails");
      // As in the midst of a schedule of hours, which this service has not.
      await portal().service.database.pool.query(
        `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
          SELECT 'late', $1, postern.uuid_v7(), postern.uuid_v7(), 'invoice.paid', 2, at, at
          FROM (SELECT now() + interval '125 minutes' AS at) AS due`,
        [late.id],
      );
      const { page, inspect } = await portal().open(`/endpoints/${late.id}`, {
        grant: { tenant_id: "late" },
      });
      await page.getByText(/^Next attempt: in 2 h\S+ \(.*\d\d:\d\d:\d\d\)$/).waitFor();
      await inspect();
    });

    it("counts what failed, sends it again, and shows how far that is", async () => {
      isMended = false;
      const [works, fails] = await prepare(portal(), "replay", 4);
      isMended = true;
      const { page, inspect } = await portal().open(`/endpoints/${fails.id}`, {
        grant: { tenant_id: "replay" },
      });
      await page.locator("label", { hasText: "7 days" }).click();
      await page.getByRole("button", { name: "Send these again" }).click();
      const dialog = page.getByRole("dialog");
      const ofCause = page.getByRole("link", { name: "The receiver failed", includeHidden: true });
      assert.match((await ofCause.getAttribute("href")) ?? "", /range=7d/);
      assert.ok(await dialog.getByLabel("7 days").isChecked());
      await dialog.getByText("4 events would be sent.").waitFor();
      assert.match(page.url(), /range=7d&replay=failed&cause=http_500/);
      await inspect("replay-new");
      await dialog.getByText("Missed: accepted before").click();
      await dialog.getByText("No event fits").waitFor();
      assert.ok(await dialog.getByRole("button", { name: "Send them" }).isDisabled());
      await dialog.getByText("Failed: the newest attempt").click();
      await dialog.getByText("4 events would be sent.").waitFor();
      await dialog.getByRole("button", { name: "Send them" }).click();
      const replay = page.getByRole("listitem").filter({ hasText: "4 of 4 done" });
      await replay.getByText("Finished").waitFor();
      await replay.and(page.locator(":focus")).waitFor();
      await page.getByText("4 delivered, 0 failed, 0 skipped").waitFor();
      // The figures beside it change with its end.
      await page.getByRole("img", { name: "4 delivered and 4 failed in this time" }).waitFor();
      await inspect("replay-finished");
      assert.equal(new URL(page.url()).search, "?range=7d");
      const sent = await deliveriesOf(
        portal(),
        "replay",
        `endpoint_id=${fails.id}&status=delivered&event_type=invoice.paid`,
      );
      assert.equal(sent.length, 4);
      // Of another endpoint of the same tenant.
      await page.goto(`${portal().service.url}/portal/endpoints/${works.id}`);
      await page.getByText("No failures in this time.").waitFor();
      await page.getByText("No replay yet.").waitFor();
    });

    it("cancels a replay that runs", async () => {
      isMended = true;
      await addEndpoint(portal(), "cancel", "/first");
      // At one a second it runs for longer than a busy machine takes to look at it.
      const events = Array.from({ length: 300 }, (_, n) => ({ type: "invoice.paid", data: { n } }));
      const as = { ...PRODUCER, tid: "cancel" };
      const { status } = await portal().service.call("POST", "/api/events", { as, json: events });
      assert.equal(status, 202);
      const slow = await addEndpoint(portal(), "cancel", "/slow", { rate_limit: 1 });
      const { page, inspect } = await portal().open(`/endpoints/${slow.id}?replay=missed`, {
        grant: { tenant_id: "cancel" },
      });
      await page.getByText("300 events would be sent.").waitFor();
      await page.getByRole("button", { name: "Send them" }).click();
      await page.getByText("Running", { exact: true }).waitFor();
      await inspect("replay-running");
      const reader = await portal().open(`/endpoints/${slow.id}`, {
        grant: { tenant_id: "cancel", read_only: true },
      });
      await reader.page.getByText("Running", { exact: true }).waitFor();
      assert.equal(await reader.page.getByRole("button", { name: "Cancel replay" }).count(), 0);
      await page.getByRole("button", { name: "Cancel replay" }).click();
      await page.getByText("What is in flight is finished").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel replay" }).click();
      await page.getByText("Canceled", { exact: true }).waitFor();
      await inspect();
      const sent = await deliveriesOf(portal(), "cancel", `endpoint_id=${slow.id}&limit=100`);
      assert.ok(sent.length < 100);
    });
  },
);
