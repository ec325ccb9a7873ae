/** Addresses of the portal that a program or a person wrote, and not the portal itself. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { describePortal } from "./support/portal.ts";

/** Each is JSON too, and would be another text if it were read as that. */
const TEXTS = ["12345678901234567890", "12.50", "1e5", "0012", "true", "null", '"paid"', '{"n": 1}', "[1]"];

describePortal("a link to the portal", { env: { RATE_LIMIT_WRITES: "0" } }, (portal) => {
  it("searches the log for its text as it stands there", async () => {
    const { page } = await portal().open("/events");
    for (const text of TEXTS) {
      // The page that is left may still ask for its own.
      const isAsked = ({ pathname, searchParams }: URL): boolean =>
        pathname === "/api/deliveries" && searchParams.get("q") === text;
      await Promise.all([
        page.waitForRequest((request) => isAsked(new URL(request.url()))),
        page.goto(`${portal().service.url}/portal/log?q=${encodeURIComponent(text)}`),
      ]);
      assert.equal(await page.getByRole("searchbox").inputValue(), text);
    }
  });

  it("is the same as the address that the portal itself gives the page", async () => {
    const { page } = await portal().open("/log");
    for (const text of TEXTS) {
      await page.getByRole("searchbox").fill(text);
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.searchParams.get("q") === text);
    }
  });
});
