/** The audit log, for owners: entries in words, filters, pages. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { describePortal } from "./support/portal.ts";
import { addEndpoint } from "./support/tenant.ts";

const owner = (tid: string, sub = "ada") => ({ type: "user", tid, sub, role: "owner" });

describePortal("the portal's audit log", { env: { RATE_LIMIT_WRITES: "0" } }, (portal) => {
  it("lists what was done in words, narrows it by the URL, and reads page by page", async () => {
    const first = await addEndpoint(portal(), "acme", "/first");
    for (let n = 0; n < 60; n++) {
      const json = { description: `change ${n}` };
      await portal().service.call("PATCH", `/api/webhooks/${first.id}`, { as: owner("acme"), json });
    }
    const second = await addEndpoint(portal(), "acme", "/second");
    const { page, inspect } = await portal().open("/audit");
    const rows = page.getByRole("list", { name: "Audit log" }).getByRole("listitem");
    await rows.nth(49).waitFor();
    assert.equal(await rows.count(), 50);
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("That is all.").waitFor();
    assert.ok((await rows.count()) >= 62);
    await page.getByLabel("Action").selectOption("endpoint.created");
    await eventually(async () => (await rows.count()) === 2);
    assert.match(page.url(), /action=endpoint.created/);
    await page.getByLabel("Endpoint").selectOption(second.id);
    await eventually(async () => (await rows.count()) === 1);
    await page.locator("label", { hasText: "7 days" }).click();
    await page.reload();
    await eventually(async () => (await rows.count()) === 1);
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await rows.getByText("Event types", { exact: true }).waitFor();
    await rows.getByText("Request id").waitFor();
    await inspect("audit-entry");
    await page.getByLabel("Action").selectOption("artifact.erased");
    await page.getByText("Nothing matches").waitFor();
    await inspect("audit-nothing");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await rows.nth(49).waitFor();
    await inspect("audit");
  });

  it("goes up to now where a range is chosen, whatever end an edited link names", async () => {
    await addEndpoint(portal(), "ranged", "/ranged");
    const grant = { tenant_id: "ranged" };
    const { page } = await portal().open("/audit?range=7d&to=2026-01-01T00:00:00.000Z", { grant });
    await page.getByRole("listitem").getByText("Endpoint created").waitFor();
    await page.goto(`${portal().service.url}/portal/audit?to=2026-01-01T00:00:00.000Z`);
    await page.getByText("Nothing matches").waitFor();
  });

  it("says how long to wait where it was asked for too often", async () => {
    const { page } = await portal().open("/endpoints", { expects: /status of 429/ });
    await page.route(/\/api\/audit/, (route) =>
      route.fulfill({ status: 429, headers: { "Retry-After": "40" }, body: "{}" }),
    );
    await page.getByRole("link", { name: "Audit log" }).first().click();
    await page.getByText("Too many requests").waitFor();
    assert.equal(await page.getByText(/Wait 40/).count(), 1);
  });

  it("shows what others chose as text", async () => {
    const sub = `<img src=x onerror="alert(1)">\u202Eright`;
    const json = { url: new URL("/x", portal().service.receiver.url).href, events: ["*"] };
    await portal().service.call("POST", "/api/webhooks", { as: owner("hostile", sub), json });
    const { page, inspect } = await portal().open("/audit", { grant: { tenant_id: "hostile" } });
    await page.getByRole("listitem").getByText("Endpoint created").click();
    await page
      .getByText(/<img src=x onerror=/)
      .last()
      .waitFor();
    await inspect();
  });

  it("is in the list of pages for owners alone, and tells others so", async () => {
    for (const grant of [{ role: "member" }, { role: "admin" }]) {
      const { page, inspect } = await portal().open("/audit", {
        grant: { tenant_id: "members", ...grant },
        expects: /403 \(Forbidden\)/,
      });
      await page.getByText("Not allowed").waitFor();
      assert.equal(await page.getByRole("link", { name: "Audit log" }).count(), 0);
      assert.equal(await page.getByLabel("Action").count(), 0);
      await inspect("audit-forbidden");
      await page.context().close();
    }
    const { page } = await portal().open("/endpoints", { grant: { tenant_id: "members" } });
    await page.getByRole("link", { name: "Audit log" }).first().waitFor();
  });
});
