/**
 * `node bench/portal.ts [scroll] [idle] [lighthouse]`: the portal in Chromium,
 * for a tenant with 1,000 endpoints and 1,000,000 rows in its log. Prints how
 * soon a page can be used and the tasks of over 50 ms while one scrolls, what an
 * open page asks of the service while nobody touches it, and Lighthouse's scores,
 * these for a tenant with 5 endpoints and 20,000 rows too.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import type { TokenClaims } from "../src/api/session-token.ts";
import { launchChromium } from "../portal/test/support/browser.ts";
import { prepareChromium, chromiumPath } from "../portal/test/support/chromium.ts";
import { openConnection } from "./generator.ts";
import { judge, prepareLighthouse } from "./lighthouse.ts";
import { familyCpuSeconds } from "./measure.ts";
import { seedDeliveries } from "./seed.ts";
import { openStand, type Program, type Stand } from "./stand.ts";

type Tenant = { id: string; endpoints: number; rows: number };
const LARGE: Tenant = { id: "large", endpoints: 1000, rows: 1_000_000 };
const USUAL: Tenant = { id: "usual", endpoints: 5, rows: 20_000 };
const DAYS = 7;
const OPERATOR: TokenClaims = { type: "service", tid: "*", sub: "bench", permissions: ["portal:grant"] };
const WINDOW = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const FRAME_MS = 16;
const IDLE_S = 60;
/** Of the log; the page reads on as one scrolls. */
const SCROLL_S = 20;

/** Notes each task of over 50 ms, as the browser itself counts them. */
const WATCH_TASKS = `window.longTasks = [];
new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
  .observe({ type: "longtask", buffered: true });`;
const ROW_COUNT = `Math.max(0, ...[...document.querySelectorAll("main [aria-posinset]")].map((row) => Number(row.getAttribute("aria-posinset"))))`;

type Browser = Awaited<ReturnType<typeof launchChromium>>;
type Page = Awaited<ReturnType<Browser["newPage"]>>;
type Tools = { stand: Stand; program: Program; browser: Browser };

const TASKS: Record<string, (tools: Tools) => Promise<Record<string, unknown>[]>> = {
  scroll: async (tools) => [
    await endpoints(tools, WINDOW),
    await endpoints(tools, PHONE),
    await log(tools, WINDOW),
    await log(tools, PHONE),
  ],
  idle: async (tools) => [await idle(tools, "/endpoints"), await idle(tools, "/log")],
  lighthouse,
};

const wanted = process.argv.slice(2);
assert.deepEqual(
  wanted.filter((name) => !(name in TASKS)),
  [],
  `The tasks are: ${Object.keys(TASKS).join(", ")}.`,
);
assert.equal(prepareChromium(console.error), null);

async function main(): Promise<void> {
  const stand = await openStand();
  const browser = await launchChromium(chromiumPath() ?? "");
  try {
    const program = await stand.start("up", {
      PUBLIC_URL: "http://127.0.0.1",
      RATE_LIMIT_WRITES: "0",
      MAX_ENDPOINTS_PER_TENANT: String(LARGE.endpoints),
      LOG_LEVEL: "info",
    });
    for (const tenant of [LARGE, USUAL]) await seed(stand, program, tenant);
    for (const [name, task] of Object.entries(TASKS)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      // One below the other: a row is wider than a terminal.
      for (const row of await task({ stand, program, browser })) console.log(row);
    }
  } finally {
    await browser.close();
    await stand.close();
  }
}

async function seed(stand: Stand, program: Program, { id, endpoints, rows }: Tenant): Promise<void> {
  const { httpsPort } = await stand.receiver("reset");
  const owner: TokenClaims = { type: "user", tid: id, sub: "bench", role: "owner" };
  const connection = await openConnection(await stand.target(program, "/api/webhooks", owner));
  for (let n = 0; n < endpoints; n++) {
    const url = `https://127.0.0.1:${httpsPort}/ok/${n}`;
    const { status, body } = await connection.post(JSON.stringify({ url, events: ["invoice.*"] }));
    assert.equal(status, 201, body);
  }
  connection.close();
  await seedDeliveries(
    stand,
    { total: rows, days: DAYS },
    {
      tenant: `'${id}'`,
      endpoint: `(ARRAY(SELECT id FROM postern.endpoints WHERE tenant_id = '${id}'))[n % ${endpoints} + 1]`,
      isFailed: "n % 20 = 0",
    },
  );
}

/** A URL that opens the portal as the tenant's owner, once. */
async function urlOf({ stand, program }: Tools, { id }: Tenant, path: string): Promise<string> {
  const connection = await openConnection(await stand.target(program, "/api/portal/codes", OPERATOR));
  const { status, body } = await connection.post(
    JSON.stringify({ tenant_id: id, sub: "bench", role: "owner" }),
  );
  connection.close();
  assert.equal(status, 201, body);
  return `${program.url}/portal${path}${new URL(JSON.parse(body).url).hash}`;
}

async function open(tools: Tools, path: string, viewport: typeof WINDOW): Promise<Page> {
  const context = await tools.browser.newContext({ viewport, locale: "en-GB" });
  const page = await context.newPage();
  await page.addInitScript({ content: WATCH_TASKS });
  await page.goto(await urlOf(tools, LARGE, path));
  await page.locator("main [aria-posinset]").first().waitFor();
  return page;
}

/** Opened a second time, as with files of the portal in the browser's cache. */
async function usableMs(page: Page): Promise<number> {
  await page.reload();
  await page.locator("main [aria-posinset] a").first().waitFor();
  return Math.round(Number(await page.evaluate("performance.now()")));
}

type Tasks = { longMs: readonly number[]; cpuMs: number; clockMs: number };

/** The tasks of over 50 ms while the work was done, by the clock, and the CPU time of all tasks of the page. */
async function tasksDuring(page: Page, work: () => Promise<void>): Promise<Tasks> {
  await delay(1000);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const cpuMs = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
  };
  await page.evaluate("window.longTasks.length = 0");
  const [cpuBefore, startedAt] = [await cpuMs(), performance.now()];
  await work();
  const [cpuAfter, endedAt] = [await cpuMs(), performance.now()];
  await delay(500);
  const longMs = durations.parse(JSON.parse(String(await page.evaluate("JSON.stringify(window.longTasks)"))));
  await session.detach();
  return { longMs, cpuMs: cpuAfter - cpuBefore, clockMs: endedAt - startedAt };
}

const durations = z.array(z.number());

async function wheel(page: Page, step: number, until: () => Promise<boolean>): Promise<void> {
  do {
    for (let turn = 0; turn < 20; turn++) {
      await page.mouse.wheel(0, step);
      await delay(FRAME_MS);
    }
  } while (!(await until()));
}

async function isAtEnd(page: Page): Promise<boolean> {
  const isEnd = "scrollY + innerHeight >= document.documentElement.scrollHeight - 2";
  return (await page.evaluate(isEnd)) === true;
}

async function isAtTop(page: Page): Promise<boolean> {
  return (await page.evaluate("scrollY")) === 0;
}

async function press(page: Page, key: string, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await page.keyboard.press(key);
    await delay(FRAME_MS * 2);
  }
}

async function endpoints(tools: Tools, viewport: typeof WINDOW) {
  const page = await open(tools, "/endpoints", viewport);
  const ms = await usableMs(page);
  await page.mouse.move(200, 400);
  const row = {
    list: `endpoints, ${viewport.width} px`,
    "usable ms": ms,
    ...named("wheel", await tasksDuring(page, () => wheel(page, 400, () => isAtEnd(page)))),
    ...named("back", await tasksDuring(page, () => wheel(page, -400, () => isAtTop(page)))),
    ...named("keys", await tasksDuring(page, () => press(page, "j", 300))),
    ...named("filter", await tasksDuring(page, () => page.getByRole("searchbox").pressSequentially("ok/77"))),
    rows: LARGE.endpoints,
  };
  await page.context().close();
  return row;
}

async function log(tools: Tools, viewport: typeof WINDOW) {
  const page = await open(tools, "/log?range=7d", viewport);
  const ms = await usableMs(page);
  await page.mouse.move(200, 600);
  const endsAt = performance.now() + SCROLL_S * 1000;
  const down = await tasksDuring(page, () => wheel(page, 600, async () => performance.now() > endsAt));
  const rows = await page.evaluate(ROW_COUNT);
  const row = {
    list: `log, ${viewport.width} px`,
    "usable ms": ms,
    ...named("wheel", down),
    ...named("back", await tasksDuring(page, () => wheel(page, -3000, () => isAtTop(page)))),
    ...named("keys", await tasksDuring(page, () => press(page, "j", 300))),
    ...named("filter", await tasksDuring(page, () => filterByStatus(page))),
    rows,
  };
  await page.context().close();
  return row;
}

async function filterByStatus(page: Page): Promise<void> {
  await page.getByLabel("Status").selectOption("failed");
  await page.waitForURL(/status=failed/);
  await delay(1000);
}

function named(name: string, { longMs, cpuMs, clockMs }: Tasks) {
  const long =
    longMs.length === 0 ? "none" : `${longMs.length}, longest ${Math.round(Math.max(...longMs))} ms`;
  return { [name]: `${long}; CPU ${Math.round((100 * cpuMs) / clockMs)} % of ${Math.round(clockMs)} ms` };
}

/** What one open page costs the service while it is left alone. */
async function idle(tools: Tools, path: string) {
  const page = await open(tools, path, WINDOW);
  await delay(2000);
  let requests = 0;
  page.on("request", () => (requests += 1));
  const { pid } = tools.program;
  const before = familyCpuSeconds(pid);
  await delay(IDLE_S * 1000);
  const open_s = familyCpuSeconds(pid) - before;
  await page.context().close();
  await delay(2000);
  const after = familyCpuSeconds(pid);
  await delay(IDLE_S * 1000);
  const closed_s = familyCpuSeconds(pid) - after;
  return {
    page: path,
    [`requests in ${IDLE_S} s`]: requests,
    "service CPU s": open_s.toFixed(2),
    "service CPU s, page closed": closed_s.toFixed(2),
  };
}

async function lighthouse(tools: Tools) {
  await prepareLighthouse();
  const rows: Record<string, unknown>[] = [];
  for (const tenant of [USUAL, LARGE]) {
    for (const form of ["desktop", "mobile"] as const) {
      for (const path of ["/endpoints", "/log", "/events", "/exports", "/audit"]) {
        const judged = await judge(await urlOf(tools, tenant, path), form);
        rows.push({ tenant: tenant.id, page: path, form, ...judged });
      }
    }
  }
  return rows;
}

await main();
