/** The page of an endpoint's secret: its rotation, code that verifies, and the signature's debugger. */
import assert from "node:assert/strict";
import { it } from "node:test";
import * as z from "zod";
import { eventually } from "../../test/support/eventually.ts";
import { serviceSignature, webhookSignature } from "../../test/support/receivers.ts";
import type { ReceivedRequest } from "../../test/support/tls-receiver.ts";
import { describePortal, type Portal } from "./support/portal.ts";
import { addEndpoint } from "./support/tenant.ts";

const OWN = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw1nbAv2VKcTU=";

async function sendTest(portal: Portal, tid: string, id: string): Promise<ReceivedRequest> {
  const as = { type: "user", tid, sub: "ada", role: "owner" };
  const json = { event_type: "invoice.paid" };
  const { status, text } = await portal.service.call("POST", `/api/webhooks/${id}/test`, { as, json });
  assert.equal(status, 200, text);
  const request = portal.service.receiver.requests.at(-1);
  assert.ok(request !== undefined);
  return request;
}

async function healthOf(portal: Portal, tid: string, id: string) {
  const as = { type: "user", tid, sub: "ada", role: "owner" };
  const { body } = await portal.service.call("GET", `/api/webhooks/${id}/health`, { as });
  return z.object({ health: z.object({ previous_secret_until: z.string().nullable() }) }).parse(body).health;
}

describePortal(
  "the portal's page of a secret",
  { env: { RETRY_SCHEDULE: "0s", RATE_LIMIT_WRITES: "0" } },
  (portal) => {
    it("rotates with a grace period of one's own, shows the new one once, and counts down", async () => {
      const endpoint = await addEndpoint(portal(), "rotates", "/works");
      const { page, inspect } = await portal().open(`/endpoints/${endpoint.id}`, {
        grant: { tenant_id: "rotates" },
      });
      await page.getByRole("link", { name: "Secret" }).click();
      await page.getByRole("heading", { name: "Rotate the secret" }).waitFor();
      await inspect("secret");
      await page.getByLabel("Another").check();
      await page.getByLabel("Length of the grace period").fill("8");
      await page.getByRole("button", { name: "Rotate secret" }).click();
      await page.getByText("7 days is the longest").waitFor();
      await inspect("secret-grace");
      await page.getByLabel("Unit").selectOption("hours");
      await page.getByRole("button", { name: "Rotate secret" }).click();
      const ask = page.getByRole("dialog");
      await ask.getByText("signs beside the new one for 8 hr").waitFor();
      await inspect("secret-ask");
      // As most people see it: the dialog that asked fades while the secret is there already.
      await page.emulateMedia({ reducedMotion: "no-preference" });
      await ask.getByRole("button", { name: "Rotate secret" }).click();
      await page.getByRole("dialog", { name: "shown only this once" }).waitFor();
      await eventually(async () => (await page.locator("[role=dialog]").count()) === 1);
      await page.evaluate(
        "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))",
      );
      await page.getByRole("dialog", { name: "shown only this once" }).locator(":focus").waitFor();
      await page.emulateMedia({ reducedMotion: "reduce" });
      const shown = page.getByLabel("Signing secret", { exact: true });
      const secret = (await shown.textContent()) ?? "";
      assert.match(secret, /^whsec_/);
      await page.getByText("You can't see it again").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Copy" }).click();
      assert.equal(await page.evaluate("navigator.clipboard.readText()"), secret);
      await page.keyboard.press("Escape");
      await inspect("secret-new");
      await page.getByRole("button", { name: "I have stored it" }).click();
      await page.getByText(/The former secret signs for another (?:7 hrs 59 mins|8 hrs$)/).waitFor();
      assert.ok(!(await page.content()).includes(secret));
      await inspect("secret-countdown");
      const request = await sendTest(portal(), "rotates", endpoint.id);
      assert.equal(request.headers["x-service-signature"], serviceSignature(secret, request));
      assert.equal(String(request.headers["webhook-signature"]).split(" ").length, 2);
    });

    it("warns of a grace period that another person began since the page was opened", async () => {
      const tid = "owners";
      const { id } = await addEndpoint(portal(), tid, "/works");
      const { page } = await portal().open(`/endpoints/${id}/secret`, { grant: { tenant_id: tid } });
      await page.getByRole("button", { name: "Rotate secret" }).waitFor();
      const json = { grace_seconds: 86_400 };
      const path = `/api/webhooks/${id}/rotate-secret`;
      const as = { type: "user", tid, sub: "bob", role: "owner" };
      const { status, text } = await portal().service.call("POST", path, { as, json });
      assert.equal(status, 200, text);
      await page.getByRole("button", { name: "Rotate secret" }).click();
      await page.getByRole("dialog").getByText("The secret of before the last rotation").waitFor();
    });

    it("ends the former secret at once where no grace is wanted, and takes an own one", async () => {
      const endpoint = await addEndpoint(portal(), "own", "/works");
      const { page, inspect } = await portal().open(`/endpoints/${endpoint.id}/secret`, {
        grant: { tenant_id: "own" },
        expects: /400/,
      });
      await page.getByLabel("None").check();
      await page.getByLabel("Use a secret of my own").check();
      await page.getByRole("button", { name: "Rotate secret" }).click();
      await page.getByText("Give a secret.").waitFor();
      await page.getByLabel("Your secret").and(page.locator(":focus")).waitFor();
      await page.getByLabel("Your secret").fill("x".repeat(20));
      await page.getByRole("button", { name: "Rotate secret" }).click();
      await page.getByText("refuses requests until it has the new one").waitFor();
      await page.getByRole("dialog", { name: /of 127\.0\.0\.1:\d+\/works\?$/ }).waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click();
      await page.getByText(/too easy to guess/).waitFor();
      await page.getByLabel("Your secret").and(page.locator(":focus")).waitFor();
      await inspect("secret-own-refused");
      await page.getByLabel("Your secret").fill(OWN);
      await page.getByRole("button", { name: "Rotate secret" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click();
      await page.getByRole("button", { name: "I have stored it" }).click();
      assert.ok(!(await page.content()).includes(OWN));
      const request = await sendTest(portal(), "own", endpoint.id);
      assert.equal(request.headers["webhook-signature"], webhookSignature(OWN, request));
      assert.equal((await healthOf(portal(), "own", endpoint.id)).previous_secret_until, null);
    });

    it("offers no rotation to members and sessions that may read only, and nothing to others", async () => {
      const endpoint = await addEndpoint(portal(), "guarded", "/works");
      const path = `/endpoints/${endpoint.id}/secret`;
      for (const grant of [{ role: "member" }, { role: "admin" }, { read_only: true }]) {
        const { page, inspect } = await portal().open(path, { grant: { tenant_id: "guarded", ...grant } });
        await page.getByText("Only owners of your account may rotate the secret").waitFor();
        assert.equal(await page.getByRole("button", { name: "Rotate secret" }).count(), 0);
        await inspect("role" in grant && grant.role === "member" ? "secret-member" : undefined);
      }
      const other = await portal().open(path, { grant: { tenant_id: "stranger" }, expects: /404/ });
      await other.page.getByText("Not found").waitFor();
      await other.inspect();
    });

    it("has code that verifies in eight languages", async () => {
      const endpoint = await addEndpoint(portal(), "code", "/hooks?token=confidential");
      const { page, inspect } = await portal().open(`/endpoints/${endpoint.id}/secret?tab=verify`, {
        grant: { tenant_id: "code" },
      });
      const code = page.getByRole("region", { name: "Code" });
      await code.getByText("function isSigned").waitFor();
      await page.getByText("A part of a file").waitFor();
      await inspect("secret-verify");
      const copied = async (place: number) => {
        await page
          .getByRole("button", { name: /^Cop(?:y|ied)$/ })
          .nth(place)
          .click();
        return page.evaluate("navigator.clipboard.readText()");
      };
      assert.equal(await copied(0), await code.textContent());
      for (const name of ["Node", "Python", "Go", "Ruby", "PHP", "Java", "C#", "Rust"]) {
        await page.locator("label", { hasText: new RegExp(`^${name.replace("+", "\\+")}$`) }).click();
        const text = (await code.textContent()) ?? "";
        assert.match(
          text.split("\n")[0] ?? "",
          /^(?:\/\/|#) Verifies requests to 127\.0\.0\.1:\d+\/hooks$/,
          name,
        );
        assert.match(text, /webhook-signature|WEBHOOK_SIGNATURE|\$signatures/, name);
        assert.ok(!text.includes("confidential"));
      }
      assert.match(page.url(), /language=rust/);
      await page.locator("label", { hasText: "Whole receiver" }).click();
      await page.getByText("cargo run --locked", { exact: false }).first().waitFor();
      assert.ok(!((await code.textContent()) ?? "").includes("region"));
      assert.equal(await copied(1), await page.getByLabel("Run it").textContent());
      await inspect("secret-verify-whole");
    });

    it("says why a signature does not match, and sends nothing of it anywhere", async () => {
      const endpoint = await addEndpoint(portal(), "debug", "/works");
      const rotated = await portal().service.call("POST", `/api/webhooks/${endpoint.id}/rotate-secret`, {
        as: { type: "user", tid: "debug", sub: "ada", role: "owner" },
      });
      const { secret } = z.object({ secret: z.string() }).parse(rotated.body);
      const sent = await sendTest(portal(), "debug", endpoint.id);
      const { page, inspect } = await portal().open(`/endpoints/${endpoint.id}/secret?tab=debug`, {
        grant: { tenant_id: "debug" },
      });
      await page.getByText("Give the headers and the secret").waitFor();
      await inspect("debugger-empty");
      await page.getByRole("button", { name: "Take the newest request" }).click();
      await page.waitForURL(/delivery=/);
      const body = page.getByLabel("Body", { exact: true });
      assert.equal(await body.inputValue(), sent.body.toString("utf8"));
      const calls: string[] = [];
      page.on("request", (request) => calls.push(request.url()));
      await page.getByLabel("Secret", { exact: true }).fill(secret);
      await page.getByText("The signature is right. A receiver accepts this request.").waitFor();
      await page.getByText("Judged by the time at which it was sent").waitFor();
      await inspect("debugger-right");
      await body.fill(JSON.stringify(JSON.parse(sent.body.toString("utf8")), null, 2));
      await page.getByText("without the spaces between the parts of the JSON").first().waitFor();
      await inspect("debugger-spaces");
      await body.fill('<img src=x onerror="alert(1)">\u202Eabc');
      await page.getByText("The body has no event and data").waitFor();
      await page.getByLabel("Headers", { exact: true }).fill("webhook-id: 1\nwhat is <b>this</b>");
      await page.getByText("webhook-timestamp is missing").waitFor();
      await inspect("debugger-wrong");
      assert.deepEqual(calls, []);
      assert.ok(!page.url().includes("whsec"));
      await page.reload();
      assert.equal(await page.getByLabel("Secret", { exact: true }).inputValue(), "");
    });

    it("is there in German too", async () => {
      const endpoint = await addEndpoint(portal(), "german", "/works");
      const { page, inspect } = await portal().open(`/endpoints/${endpoint.id}/secret?tab=debug`, {
        grant: { tenant_id: "german" },
        locale: "de-DE",
      });
      await page.getByLabel("Header", { exact: true }).fill("webhook-id: msg_1");
      await page.getByLabel("Geheimnis", { exact: true }).fill("kurz");
      await page.getByText("webhook-signature fehlt").waitFor();
      await inspect("debugger-de");
    });
  },
);
