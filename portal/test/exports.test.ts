/** Exports of the log and stored files: requested, watched, downloaded, held and erased. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { it } from "node:test";
import * as z from "zod";
import { artifactObject } from "../../src/api/storage-schemas.ts";
import { eventually } from "../../test/support/eventually.ts";
import { describePortal, type Portal } from "./support/portal.ts";
import { prepare } from "./support/tenant.ts";

const owner = (tid: string) => ({ type: "user", tid, sub: "ada", role: "owner" });

async function filesOf(portal: Portal, tid: string) {
  const { body } = await portal.service.call("GET", "/api/storage/library", { as: owner(tid) });
  return z.object({ items: z.array(artifactObject) }).parse(body).items;
}

/** An export that is ready. */
async function exported(portal: Portal, tid: string): Promise<void> {
  const now = Date.now();
  const json = { from: new Date(now - 3_600_000).toISOString(), to: new Date(now).toISOString() };
  const answer = await portal.service.call("POST", "/api/storage/exports", { as: owner(tid), json });
  assert.equal(answer.status, 202, answer.text);
  const { id } = z.object({ id: z.string() }).parse(answer.body);
  await eventually(async () => (await filesOf(portal, tid)).some((file) => file.delivery_id === id));
}

/** Exports that are over, each of another number of rows. */
async function insertExpired(
  portal: Portal,
  { tenantId, count }: { tenantId: string; count: number },
): Promise<void> {
  await portal.service.database.pool.query(
    `INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at, status, rows_done, rows_total)
      SELECT $1, postern.uuid_v7(), 'ada', now() - interval '1 hour', now(), 'expired', n, n
      FROM generate_series(1, $2::int) AS n`,
    [tenantId, count],
  );
}

describePortal(
  "the portal's exports",
  {
    env: { RETRY_SCHEDULE: "0s", RATE_LIMIT_WRITES: "0" },
    respond: ({ path }) => ({ status: path === "/fails" ? 500 : 200 }),
  },
  (portal) => {
    it("says what an export is where there is none", async () => {
      const { page, inspect } = await portal().open("/exports", { grant: { tenant_id: "empty" } });
      await page.getByText("No export yet").waitFor();
      await inspect("exports-empty");
      await page.locator("label", { hasText: "Stored files" }).click();
      await page.getByText("Nothing is stored").waitFor();
      assert.match(page.url(), /view=files/);
      await inspect();
    });

    it("is requested in a dialog, watched until it is ready, and downloaded", async () => {
      await prepare(portal(), "asks", 3);
      const { page, inspect } = await portal().open("/exports", {
        grant: { tenant_id: "asks" },
        expects: /400 \(Bad Request\)/,
      });
      await page.getByRole("heading", { level: 1, name: "Exports and files" }).waitFor();
      await page.getByText("No export yet").waitFor();
      await page.keyboard.press("n");
      await page.getByLabel("Event type").fill("invoice.*");
      await page.getByLabel("Status").selectOption("failed");
      await page.getByLabel("Parquet").check();
      await inspect("export-new");
      await page.locator("label", { hasText: "Other" }).click();
      const begin = page.getByRole("dialog").getByRole("button", { name: "Request export" });
      assert.match(await page.getByLabel("From").inputValue(), /^20\d\d-/);
      await page.getByLabel("From").fill("");
      await begin.click();
      await page.getByText("Give a time.").waitFor();
      await page.getByLabel("From").and(page.locator(":focus")).waitFor();
      await page.getByLabel("From").fill("2020-01-01T00:00");
      await page.getByLabel("To", { exact: true }).fill("2019-01-01T00:00");
      await begin.click();
      await page.getByText("It must be after the first.").waitFor();
      await page.getByLabel("To", { exact: true }).and(page.locator(":focus")).waitFor();
      await inspect("export-refused");
      await page.locator("label", { hasText: "24 hours" }).click();
      for (const format of ["NDJSON", "CSV", "Parquet"]) await page.getByLabel(format).uncheck();
      await begin.click();
      await page.getByText("Choose at least one.").waitFor();
      await page.getByLabel("NDJSON").and(page.locator(":focus")).waitFor();
      for (const format of ["NDJSON", "CSV", "Parquet"]) await page.getByLabel(format).check();
      await page.getByLabel("Event type").fill("no type");
      await begin.click();
      await page.getByRole("dialog").getByRole("alert").filter({ hasText: "event_type" }).waitFor();
      await page.getByLabel("Event type").fill("invoice.*");
      await begin.click();
      await page.getByText("The export is requested").waitFor();
      const row = page.getByRole("list", { name: "Exports" }).getByRole("listitem");
      await row.getByText("Ready", { exact: true }).waitFor();
      await row.getByText("3 deliveries").waitFor();
      await row.getByText("invoice.*").waitFor();
      await row.getByText(/Expires in \d+ days/).waitFor();
      assert.doesNotMatch(page.url(), /open=new/);
      await inspect("exports");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        row.getByRole("button", { name: /^Download/ }).click(),
      ]);
      const bytes = await readFile(await download.path());
      const [file] = await filesOf(portal(), "asks");
      assert.equal(bytes.length, file?.size);
      assert.equal(bytes.subarray(0, 2).toString(), "PK");
      await page.getByRole("heading", { level: 1, name: "Exports and files" }).waitFor();
      await inspect();
    });

    it("is asked for from the log, narrowed as the log is", async () => {
      const [, fails] = await prepare(portal(), "narrowed", 2);
      const { page, inspect } = await portal().open(`/log?status=failed&endpoint=${fails.id}&range=1h`, {
        grant: { tenant_id: "narrowed" },
      });
      await page.getByRole("link", { name: "Export", exact: true }).click();
      const dialog = page.getByRole("dialog");
      assert.equal(await dialog.getByLabel("Status").inputValue(), "failed");
      assert.equal(await dialog.getByLabel("Endpoint").inputValue(), fails.id);
      assert.match(await dialog.getByLabel("From").inputValue(), /^20\d\d-/);
      await inspect("export-narrowed");
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      assert.equal(new URL(page.url()).search, "");
      await page.goBack();
      await page.goBack();
      await page.locator("label", { hasText: "7 days" }).click();
      await page.getByRole("link", { name: "Export", exact: true }).click();
      assert.ok(await dialog.getByLabel("7 days").isChecked());
      await dialog.getByRole("button", { name: "Request export" }).click();
      const row = page.getByRole("list", { name: "Exports" }).getByRole("listitem");
      await row.getByText("2 deliveries").waitFor();
      await row.getByText("Ready", { exact: true }).waitFor();
    });

    it("is shown while it runs, and polls only then", async () => {
      await exported(portal(), "runs");
      const { pool } = portal().service.database;
      const set = (status: string, done: number): Promise<unknown> =>
        pool.query(
          `UPDATE postern.storage_exports SET status = $1, rows_done = $2, rows_total = 400,
            lease_owner = gen_random_uuid(), lease_until = now() + interval '1 hour' WHERE tenant_id = 'runs'`,
          [status, done],
        );
      await set("running", 100);
      const { page, inspect } = await portal().open("/exports", { grant: { tenant_id: "runs" } });
      await page.getByText("100 of 400 deliveries").waitFor();
      await inspect("export-running");
      await set("running", 300);
      await page.getByText("300 of 400 deliveries").waitFor();
      const files = page.locator("label", { hasText: "Stored files" });
      const exports = page.locator("label", { hasText: "Exports" });
      await files.click();
      await page.getByRole("list", { name: "Stored files" }).getByRole("listitem").waitFor();
      await exports.click();
      await set("ready", 390);
      await page.getByText("Ready", { exact: true }).waitFor();
      // What was read of the files a moment ago lacks the new one.
      const readAnew = page.waitForRequest(/\/api\/storage\/library/, { timeout: 10_000 });
      await files.click();
      await readAnew;
      await exports.click();
      await page.getByText("10 more were counted and then deleted").waitFor();
      await inspect("export-fewer");
      let asked = 0;
      page.on("request", () => (asked += 1));
      await page.getByRole("button", { name: /^Download/ }).waitFor();
      await page.evaluate("new Promise((resolve) => setTimeout(resolve, 4000))");
      assert.ok(asked <= 2, `${asked} requests`);
    });

    it("lists more exports than a page has, and each once", async () => {
      await insertExpired(portal(), { tenantId: "pages", count: 51 });
      const { page } = await portal().open("/exports", { grant: { tenant_id: "pages" } });
      const rows = page.getByRole("list", { name: "Exports" }).getByRole("listitem");
      await rows.nth(49).waitFor();
      assert.equal(await rows.count(), 50);
      await page.getByRole("button", { name: "Show more" }).click();
      await rows.nth(50).waitFor();
      await page.getByRole("button", { name: "Show more" }).waitFor({ state: "detached" });
      const counted = (await rows.allInnerTexts()).map((text) => /(\d+) deliver/.exec(text)?.[1]);
      assert.equal(new Set(counted).size, 51);
    });

    it("offers no second page where the first has all", async () => {
      await insertExpired(portal(), { tenantId: "full", count: 50 });
      const { page } = await portal().open("/exports", { grant: { tenant_id: "full" } });
      await page.getByRole("list", { name: "Exports" }).getByRole("listitem").nth(49).waitFor();
      assert.equal(await page.getByRole("button", { name: "Show more" }).count(), 0);
    });

    it("says why an export failed or has expired, and asks for it again, as it was asked for", async () => {
      const [{ id: endpointId }] = await prepare(portal(), "ends", 1);
      await exported(portal(), "ends");
      const { pool } = portal().service.database;
      await pool.query(
        `UPDATE postern.storage_exports SET status = 'failed', object_id = NULL, error = '<b>too</b> much',
          endpoint_id = $1, event_type = 'invoice.*', delivery_status = 'delivered' WHERE tenant_id = 'ends'`,
        [endpointId],
      );
      await exported(portal(), "ends");
      await pool.query(
        "UPDATE postern.stored_objects SET deadline = now() - interval '1 hour' WHERE tenant_id = 'ends'",
      );
      const { page, inspect } = await portal().open("/exports", { grant: { tenant_id: "ends" } });
      await page.getByText("<b>too</b> much").waitFor();
      await page.getByText("Its archive is no longer kept").waitFor();
      await inspect("exports-ended");
      const failed = page.getByRole("listitem").filter({ hasText: "<b>too</b> much" });
      const asked = page.waitForRequest((request) => request.method() === "POST");
      await failed.getByRole("button", { name: "Request again" }).click();
      const { from: _from, to: _to, ...narrowed } = JSON.parse((await asked).postData() ?? "");
      assert.deepEqual(narrowed, {
        formats: ["ndjson", "csv"],
        endpoint_id: endpointId,
        event_type: "invoice.*",
        delivery_status: "delivered",
      });
      await page.getByText("The export is requested").waitFor();
      await page.getByRole("button", { name: /^Download/ }).waitFor();
    });

    it("holds a file, ends the hold, and erases it after it has said what that means", async () => {
      await exported(portal(), "holds");
      const { page, inspect } = await portal().open("/exports?view=files", {
        grant: { tenant_id: "holds" },
      });
      const row = page.getByRole("list", { name: "Stored files" }).getByRole("listitem");
      const menu = row.getByRole("button", { name: /^Actions for/ });
      await menu.click();
      await page.getByRole("menuitem", { name: "Put on hold" }).click();
      await page.getByText("neither expires nor can be erased").waitFor();
      await inspect("file-hold");
      await page.getByRole("button", { name: "Put on hold" }).click();
      await row.getByText("On hold").waitFor();
      await inspect("files");
      await page.getByLabel("Kind").selectOption("request_body");
      await page.getByText("No file of this kind").waitFor();
      await page.getByText("Choose another kind").waitFor();
      await page.getByLabel("Kind").selectOption("export");
      await row.getByText("On hold").waitFor();
      await menu.click();
      await page.getByRole("menuitem", { name: "End the hold" }).waitFor();
      assert.equal(await page.getByRole("menuitem").count(), 1);
      await page.getByRole("menuitem", { name: "End the hold" }).click();
      await page.getByRole("button", { name: "End the hold" }).click();
      await row.getByText(/Expires in/).waitFor();
      await menu.click();
      await page.getByRole("menuitem", { name: "Erase" }).click();
      await page.getByText("There is no way back").waitFor();
      await page.getByRole("button", { name: "Erase" }).click();
      await row.getByText("Erased", { exact: true }).waitFor();
      assert.equal(await row.getByRole("button").count(), 0);
      const [file] = await filesOf(portal(), "holds");
      assert.equal(file?.downloadable, false);
      await inspect("file-erased");
    });

    it("offers each session what it may do, and no tenant another's files", async () => {
      await exported(portal(), "seen");
      const download = { name: /^Download/ };
      const actions = { name: /^Actions for/ };
      for (const grant of [{ role: "member" }, { read_only: true }]) {
        const { page, inspect } = await portal().open("/exports?open=new", {
          grant: { tenant_id: "seen", ...grant },
        });
        await page.getByRole("button", download).waitFor();
        assert.equal(await page.getByRole("button", { name: "Request export" }).count(), 0);
        assert.equal(await page.getByRole("button", actions).count(), 0);
        await inspect();
        await page.context().close();
      }
      const admin = await portal().open("/exports", { grant: { tenant_id: "seen", role: "admin" } });
      await admin.page.getByRole("button", actions).click();
      await admin.page.getByRole("menuitem", { name: "Erase" }).waitFor();
      assert.equal(await admin.page.getByRole("menuitem", { name: "Put on hold" }).count(), 0);
      const other = await portal().open("/exports", { grant: { tenant_id: "other" } });
      await other.page.getByText("No export yet").waitFor();
    });

    it("speaks German", async () => {
      await exported(portal(), "deutsch");
      const { page, inspect } = await portal().open("/exports", {
        grant: { tenant_id: "deutsch" },
        locale: "de-DE",
      });
      await page.getByText(/Läuft in \d+ Tagen ab/).waitFor();
      await inspect();
    });
  },
);
