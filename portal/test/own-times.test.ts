/** Times of one's own are kept as they are: fields have neither seconds nor the hour that a clock's change repeats. */
import assert from "node:assert/strict";
import { it } from "node:test";
import * as z from "zod";
import { describePortal } from "./support/portal.ts";

const SPANS = [
  // 2:30 of summer time to 2:10 of winter time.
  ["2026-10-25T00:30:00.000Z", "2026-10-25T01:10:00.000Z"],
  ["2026-11-20T10:00:05.125Z", "2026-11-20T10:00:50.250Z"],
] as const;

const requested = z.object({ from: z.string(), to: z.string() });

describePortal("the portal's times of one's own", {}, (portal) => {
  it("go from a link to the log, and on to an export, as they are", async () => {
    const { page, inspect } = await portal().open("/endpoints", { zone: "Europe/Berlin" });
    for (const [from, to] of SPANS) {
      await page.goto(`${portal().service.url}/portal/log?from=${from}&to=${to}`);
      await page.getByText("No deliveries in this time").waitFor();
      assert.equal(await page.getByText("It must be after the first.").count(), 0);
      await page.getByRole("link", { name: "Export", exact: true }).click();
      const asked = page.waitForRequest((request) => request.method() === "POST");
      await page.getByRole("dialog").getByRole("button", { name: "Request export" }).click();
      assert.deepEqual(requested.parse((await asked).postDataJSON()), { from, to });
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    await inspect();
  });

  it("stay as they are beside one that is changed", async () => {
    const { page } = await portal().open("/endpoints", { zone: "Europe/Berlin" });
    const [[, repeated], [from, to]] = SPANS;
    await page.goto(`${portal().service.url}/portal/log?from=${from}&to=${to}`);
    const end = page.getByLabel("To");
    await end.fill("2026-11-20T12:30");
    await end.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("to") === "2026-11-20T11:30:00.000Z");
    assert.equal(new URL(page.url()).searchParams.get("from"), from);
    await page.goto(`${portal().service.url}/portal/log?from=${repeated}&to=${to}`);
    await end.fill("2026-11-20T12:30");
    await end.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("to") === "2026-11-20T11:30:00.000Z");
    assert.equal(new URL(page.url()).searchParams.get("from"), repeated);
  });
});
