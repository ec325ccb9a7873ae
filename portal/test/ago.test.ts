/** How long ago something was. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agoOf } from "../src/display/ago.ts";
import { describePortal } from "./support/portal.ts";
import { deliveriesOf, prepare } from "./support/tenant.ts";

describe("a distance from now", () => {
  it("rounds to the next unit where it would be a whole one of it", () => {
    assert.deepEqual(agoOf(0), [0, "second"]);
    assert.deepEqual(agoOf(-59.4), [-59, "second"]);
    assert.deepEqual(agoOf(-59.6), [-1, "minute"]);
    assert.deepEqual(agoOf(-3569), [-59, "minute"]);
    assert.deepEqual(agoOf(-3570), [-1, "hour"]);
    assert.deepEqual(agoOf(-84_599), [-23, "hour"]);
    assert.deepEqual(agoOf(84_600), [1, "day"]);
    assert.deepEqual(agoOf(-34 * 3600), [-1, "day"]);
    assert.deepEqual(agoOf(30 * 86_400), [30, "day"]);
  });
});

describePortal("the portal's clock", { env: { RETRY_SCHEDULE: "0s" } }, (portal) => {
  it("is right at once on a page with times, after a while on one without", async () => {
    await prepare(portal(), "later", 1);
    const [newest] = await deliveriesOf(portal(), "later", "status=delivered");
    const { page } = await portal().open("/events", { grant: { tenant_id: "later" } });
    await page.getByRole("heading", { name: "Event types" }).waitFor();
    await page.clock.setFixedTime(Date.parse(newest?.sent_at ?? "") + 5 * 60_000);
    await page.getByRole("link", { name: "Endpoints" }).click();
    const last = page.getByRole("listitem").filter({ hasText: "/works" }).locator("time");
    assert.equal(await last.textContent(), "5 min ago");
  });

  it("has its year in the zone that is shown", async () => {
    await prepare(portal(), "years", 1);
    const grant = { tenant_id: "years" };
    const { page } = await portal().open("/events", { grant, zone: "America/New_York" });
    await page.getByRole("heading", { name: "Event types" }).waitFor();
    // There it is still the year before.
    const year = new Date().getUTCFullYear();
    await page.clock.setFixedTime(Date.UTC(year, 0, 1, 3));
    await page.getByRole("button", { name: "Display" }).click();
    await page.getByRole("menuitemradio", { name: "UTC" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Audit log" }).click();
    const time = page.getByRole("listitem").filter({ hasText: "Endpoint created" }).locator("time").first();
    assert.doesNotMatch((await time.textContent()) ?? "", new RegExp(String(year)));
  });
});
