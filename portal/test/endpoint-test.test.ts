/** Sending tests from the portal. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { catalogFile } from "./support/event-catalog.ts";
import { describePortal } from "./support/portal.ts";
import { addEndpoint, deliveriesOf } from "./support/tenant.ts";

const HOSTILE = '<img src=x onerror="alert(1)"> \u202Eright to left';

describePortal(
  "the portal's tests of an endpoint",
  {
    env: { EVENT_CATALOG: catalogFile(), RATE_LIMIT_WRITES: "0" },
    respond: ({ path }) => ({
      status: path === "/fails" ? 500 : 200,
      headers: { "x-receiver": "books" },
      body: path === "/fails" ? HOSTILE : '{"received":true}',
    }),
  },
  (portal) => {
    it("checks the data while one types, and sends exactly what is shown", async () => {
      const endpoint = await addEndpoint(portal(), "acme", "/works", { events: ["*"] });
      const { page, inspect } = await portal().open(`/endpoints/${endpoint.id}`, {
        expects: /400|ERR_FAILED/,
      });
      await page.getByRole("link", { name: "Test", exact: true }).click();
      await page.getByLabel("Event type").selectOption("order.placed");
      await page.waitForURL(/type=order\.placed/);
      const asked: string[] = [];
      page.on("request", (request) => asked.push(request.postData() ?? "{}"));
      const data = page.getByLabel("Data", { exact: true });
      assert.match(await data.inputValue(), /"sku": "A-1"/);
      await page.getByRole("heading", { name: "Exact body that is sent" }).waitFor();
      await inspect("test");
      await data.fill('{"order_id":');
      await page.getByText("This is no JSON.").waitFor();
      assert.ok(await page.getByRole("button", { name: "Send test" }).isDisabled());
      // Behind the pause after which a text is looked at, which began before.
      await page.evaluate("new Promise((resolve) => setTimeout(resolve, 500))");
      await data.fill('{"order_id":7,"lines":[{"sku":"A"},{}]}');
      const issues = page.getByRole("list", { name: "The data does not fit the event type" });
      await issues.getByText("data.order_id", { exact: true }).waitFor();
      await data.fill('{"order_id":"o_9","lines":[{"sku":"A"},{"sku":7}]}');
      await issues.getByText("data.lines[1].sku", { exact: true }).waitFor();
      assert.ok(await page.getByRole("button", { name: "Send test" }).isDisabled());
      for (const text of asked) assert.doesNotThrow(() => JSON.parse(text), text);
      assert.equal((await deliveriesOf(portal(), "acme")).length, 0);
      await inspect("test-issues");
      const body =
        '{"event":"order.placed","data":{"order_id":"o_9","total":12345678901234567890,"lines":[]},"_test":true}';
      await data.fill('{"order_id":"o_9","total":12345678901234567890,"lines":[]}');
      await page.getByText(body).waitFor();
      await page.getByRole("button", { name: "Send test" }).click();
      await page.getByText("Accepted 200").waitFor();
      await page.getByText("x-receiver").waitFor();
      assert.equal(portal().service.receiver.requests.at(-1)?.body.toString("utf8"), body);
      await inspect("test-accepted");
      await page.route("**/test", (route) =>
        route.request().postData()?.includes('"dry_run":false') === true ? route.abort() : route.continue(),
      );
      await page.getByRole("button", { name: "Send test" }).click();
      await page.getByRole("alert").filter({ hasText: "A change may have been made all the same" }).waitFor();
    });

    it("keeps the data of each event type that one typed", async () => {
      const { id } = await addEndpoint(portal(), "typed", "/works", { events: ["*"] });
      const { page } = await portal().open(`/endpoints/${id}/test?type=order.placed`, {
        grant: { tenant_id: "typed" },
        expects: /400/,
      });
      const data = page.getByLabel("Data", { exact: true });
      await data.fill('{"mine":1}');
      await page.getByLabel("Event type").selectOption("customer.merged");
      await eventually(async () => (await data.inputValue()).includes("c_3"));
      await page.getByLabel("Event type").selectOption("order.placed");
      await eventually(async () => (await data.inputValue()) === '{"mine":1}');
      await page.reload();
      assert.equal(await data.inputValue(), '{"mine":1}');
    });

    it("says why one failed, shows answers as text, and keeps those of this visit", async () => {
      const endpoint = await addEndpoint(portal(), "fails", "/fails", {
        events: ["customer.*", "order.placed@1"],
      });
      const { page, inspect } = await portal().open(`/endpoints/${endpoint.id}/test`, {
        grant: { tenant_id: "fails" },
      });
      await page.getByRole("button", { name: "Send test" }).click();
      await page.getByText("Failed 500").first().waitFor();
      await page.getByText(HOSTILE).waitFor();
      await page.getByText("The receiver failed").waitFor();
      await page.getByLabel("Event type").selectOption("customer.merged");
      await page.getByRole("button", { name: "Send test" }).click();
      await page.getByRole("heading", { name: "Tests of this visit" }).waitFor();
      const tests = page.getByRole("region", { name: "Answer" }).getByRole("listitem");
      // The newest first, of which the answer is shown.
      await tests.nth(1).getByText("order.placed@1").waitFor();
      assert.equal(await tests.first().getByRole("button").getAttribute("aria-pressed"), "true");
      await page.getByRole("button", { name: /order\.placed@1/ }).click();
      await inspect("test-failed");
      await page.getByRole("link", { name: "Show in the log" }).click();
      await page.getByRole("dialog").getByText("order.placed").first().waitFor();
    });

    it("says what stands in the way", async () => {
      const some = await addEndpoint(portal(), "some", "/works", { events: ["customer.*"] });
      const path = `/endpoints/${some.id}/test`;
      for (const grant of [{ read_only: true }, { tenant_id: "some", read_only: true, role: "member" }]) {
        const reader = await portal().open(path, { grant: { tenant_id: "some", ...grant } });
        await reader.page.getByText("You may not send tests").waitFor();
        await reader.inspect("role" in grant ? "test-read-only" : undefined);
      }
      const stranger = await portal().open(path, { grant: { tenant_id: "stranger" }, expects: /404/ });
      await stranger.page.getByText("Not found").waitFor();
      await stranger.inspect();
      const other = await portal().open(`/endpoints/${some.id}/test?type=order.placed`, {
        grant: { tenant_id: "some" },
      });
      await other.page.getByText("This endpoint does not get order.placed").waitFor();
      await other.inspect("test-not-subscribed");
      const nothing = await addEndpoint(portal(), "some", "/nothing", { events: ["customer.*"] });
      // As after a change of the catalog.
      await portal().service.database.pool.query(
        "UPDATE postern.endpoints SET events = '{parcel.sent}' WHERE id = $1",
        [nothing.id],
      );
      const none = await portal().open(`/endpoints/${nothing.id}/test`, { grant: { tenant_id: "some" } });
      await none.page.getByText("This endpoint gets no events").waitFor();
      await none.inspect("test-nothing");
      await none.page.getByRole("link", { name: "Edit endpoint" }).click();
      await none.page.getByRole("heading", { level: 1, name: "Edit endpoint" }).waitFor();
    });
  },
);
