/** The portal of the demonstration, by the link that `npm start` prints: a week of history and live traffic. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { startProgram, type Program } from "../../test/support/program.ts";
import { describePortal } from "./support/portal.ts";

describePortal("the portal of the demonstration", {}, (portal) => {
  let database: TestDatabase;
  let dataDir: string;
  let demo: Program;

  before(async () => {
    database = await createTestDatabase();
    dataDir = await mkdtemp(join(tmpdir(), "postern-demo-"));
    demo = await startProgram(["up", "--demo"], {
      PORT: "0",
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
    });
  });
  after(async () => {
    await demo.end("SIGINT");
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const open = async (path: string) => {
    const [, link] = /^ {2}Portal +(http:\S+)$/m.exec(demo.output()) ?? [];
    assert.ok(link !== undefined, demo.output());
    const { hash, origin } = new URL(link);
    return portal().open("", { url: `${origin}/portal${path}${hash}` });
  };

  it("shows a week of four endpoints, and why one fails", async () => {
    const { page, inspect } = await open("");
    const main = page.getByRole("main");
    for (const name of ["healthy", "slow", "flaky", "dead"]) await main.getByText(`/${name}`).waitFor();
    await inspect("demo-endpoints");
    await main.getByRole("link", { name: /\/dead$/ }).click();
    await page.locator("label", { hasText: "7 days" }).click();
    await page.getByRole("heading", { name: "Failures by cause" }).waitFor();
    await main.getByRole("button", { name: "Send these again" }).first().waitFor();
    await inspect("demo-endpoint");
  });

  it("shows what arrives, and what became of a delivery", async () => {
    const { page, inspect } = await open("/log");
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("button", { name: /Show \d+ new/ }).waitFor();
    await inspect("demo-log");
    await page.getByLabel("Status").selectOption("failed");
    await page.waitForURL(/status=failed/);
    await page.getByRole("list", { name: "Deliveries" }).getByRole("link").first().click();
    await page.getByRole("dialog").getByText("What to do").waitFor({ state: "attached" });
    await page.getByRole("dialog").getByRole("heading", { name: "Request" }).waitFor();
    await inspect("demo-delivery");
  });

  it("has an export and audit entries", async () => {
    const { page, inspect } = await open("/exports");
    await page.getByText("Ready", { exact: true }).waitFor();
    await inspect("demo-exports");
    await page.getByRole("link", { name: "Audit log" }).click();
    await page.getByRole("list", { name: "Audit log" }).getByRole("listitem").nth(3).waitFor();
    await inspect("demo-audit");
    await page.getByRole("link", { name: "Event types" }).click();
    await page.getByRole("article").waitFor();
    await inspect("demo-catalog");
  });
});
