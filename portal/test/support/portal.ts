/**
 * The portal in a real browser, on a real service. After each flow `inspect`
 * asserts what must always be so: no error in the console, nothing that the
 * policy had to stop, no request to another origin, and no violation of WCAG 2.2
 * AA in both themes, on a desktop and on a phone.
 */
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, afterEach, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import * as z from "zod";
import { codeAnswer } from "../../../src/api/portal-schemas.ts";
import { buildPortal } from "../../../tools/portal.ts";
import { GRANT, OPERATOR } from "../../../test/support/portal.ts";
import { eventually } from "../../../test/support/eventually.ts";
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
} from "../../../test/support/service.ts";
import { launchChromium } from "./browser.ts";
import { chromiumPath } from "./chromium.ts";

const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;
type Size = keyof typeof SIZES;
const ALL_RULES = {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  // Open menus lie outside of all landmarks, which no criterion forbids.
  rules: { region: { enabled: false } },
};
/** A theme changes nothing but colours. */
const COLOUR_RULES = { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } };
const THEMES = [
  ["light", ALL_RULES],
  ["dark", COLOUR_RULES],
] as const;
const IS_TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
/** As long as `eventually` waits for other things. */
const WAIT_LIMIT_MS = 60_000;
/** Runs in the page: its policy's violations become errors of its console. */
const TELL_VIOLATIONS = `document.addEventListener("securitypolicyviolation", (event) => {
  console.error("policy violation: " + event.violatedDirective + " " + event.blockedURI + " " + event.sample);
});`;
/** Letters stay sharp, at a third of the size of a PNG. */
const WEBP_QUALITY = 75;
/** Where set, each inspected view is written there as pictures. */
const PICTURES = process.env["PORTAL_PICTURES"];

export type Portal = {
  service: TestService;
  /** Opens a path of the portal in a browser of its own; by default as an owner. */
  open(path: string, options?: OpenOptions): Promise<Visit>;
};

export type OpenOptions = {
  grant?: object;
  size?: Size;
  locale?: string;
  /** The browser's time zone. */
  zone?: string;
  /** Console errors that the flow is about, such as a refused request. */
  expects?: RegExp;
  /** Another service than that of these tests. */
  service?: TestService;
  /** False: without a session. */
  isSignedIn?: boolean;
  /** A link as a person was given it, in place of a path and a service. */
  url?: string;
};

export type Visit = {
  page: Page;
  /** So far: errors of the console and requests to another origin. */
  faults: readonly string[];
  /**
   * Judges what the page shows now, in both sizes unless it is about one. With a
   * name it also makes pictures of it, where they are asked for.
   */
  inspect: (name?: string, only?: Size) => Promise<void>;
};

/** Tests of the portal on a service of their own; skipped in plain sight where no browser is installed. */
export function describePortal(
  name: string,
  options: TestServiceOptions,
  tests: (portal: () => Portal) => void,
): void {
  const executablePath = chromiumPath();
  const skip = executablePath === null ? "no Chromium is installed" : false;
  describe(name, { skip }, () => {
    let portal: Awaited<ReturnType<typeof startPortal>> | undefined;
    before(async () => {
      portal = await startPortal(executablePath ?? "", options);
    });
    // A page that stays open goes on drawing and watching beside the next test.
    afterEach(() => portal?.closePages());
    after(() => portal?.stop());
    tests(() => {
      assert.ok(portal !== undefined);
      return portal;
    });
  });
}

async function startPortal(executablePath: string, options: TestServiceOptions) {
  await buildPortal(() => undefined);
  const service = await startTestService(options);
  const browser = await launchChromium(executablePath);
  return {
    service,
    open: (path: string, openOptions: OpenOptions = {}) =>
      openPage({ browser, service: openOptions.service ?? service }, path, openOptions),
    async closePages() {
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
    async stop() {
      await browser.close();
      await service.stop();
    },
  };
}

async function openPage(
  { browser, service }: { browser: Browser; service: TestService },
  path: string,
  { grant = {}, size = "desktop", locale = "en-GB", zone, expects, isSignedIn = true, url }: OpenOptions,
): Promise<Visit> {
  const target = url ?? (isSignedIn ? await codeUrl(service, path, grant) : `${service.url}/portal${path}`);
  const context = await browser.newContext({
    viewport: SIZES[size],
    locale,
    reducedMotion: "reduce",
    ...(zone !== undefined && { timezoneId: zone }),
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_LIMIT_MS);
  const faults = watch(page, new URL(target).origin, expects);
  await page.addInitScript({ content: TELL_VIOLATIONS });
  await page.goto(target);
  // Whoever goes on before that has used the code up and holds no session.
  if (isSignedIn && url === undefined) await eventually(() => hasSession(page));
  return { page, faults, inspect: (name, only) => inspect({ page, faults }, name, only) };
}

async function hasSession(page: Page): Promise<boolean> {
  return (await page.evaluate('sessionStorage.getItem("postern.session")')) !== null;
}

/** A URL with a code, as the operator's backend asks for it. Queries are put before its fragment. */
export async function codeUrl(service: TestService, path: string, grant: object = {}): Promise<string> {
  const json = { ...GRANT, role: "owner", ...grant };
  const answer = await service.call("POST", "/api/portal/codes", { as: OPERATOR, json });
  assert.equal(answer.status, 201, answer.text);
  const { hash } = new URL(codeAnswer.parse(answer.body).url);
  return `${service.url}/portal${path}${hash}`;
}

function watch(page: Page, origin: string, expects?: RegExp): string[] {
  const faults: string[] = [];
  const add = (fault: string): void => {
    if (expects?.test(fault) !== true) faults.push(fault);
  };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      add(`console: ${message.text()} (${message.location().url})`);
    }
  });
  page.on("pageerror", (error) => add(`uncaught: ${error.stack ?? error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) add(`request elsewhere: ${url}`);
  });
  return faults;
}

async function inspect(
  { page, faults }: { page: Page; faults: readonly string[] },
  name?: string,
  only?: Size,
): Promise<void> {
  const before = page.viewportSize();
  // A page on its way has no title yet.
  await page.locator("h1").first().waitFor({ state: "attached" });
  await page.evaluate(await axeSource());
  for (const [size, viewport] of Object.entries(SIZES)) {
    if (only !== undefined && only !== size) continue;
    await page.setViewportSize(viewport);
    for (const [theme, rules] of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      const found = axeResult.parse(await page.evaluate(axeCall(rules)));
      const text = found.violations.map(
        ({ id, help, nodes }) =>
          `${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `  ${html}\n  ${failureSummary ?? ""}`).join("\n")}`,
      );
      assert.deepEqual(text, [], `accessibility, ${theme}, ${size}: ${text.join("\n")}`);
      assert.equal(await page.evaluate(IS_TOO_WIDE), false, `the page is wider than its window, ${size}`);
      if (name !== undefined && PICTURES !== undefined) await picture(page, `${name}-${theme}-${size}`);
    }
  }
  if (before !== null) await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: null });
  assert.deepEqual(faults, []);
}

async function picture(page: Page, name: string): Promise<void> {
  const folder = PICTURES ?? "";
  await mkdir(folder, { recursive: true });
  await page.mouse.move(0, 0);
  const browser = await page.context().newCDPSession(page);
  const { data } = await browser.send("Page.captureScreenshot", { format: "webp", quality: WEBP_QUALITY });
  await browser.detach();
  await writeFile(join(folder, `${name}.webp`), data, "base64");
}

const axeResult = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      help: z.string(),
      nodes: z.array(z.object({ html: z.string(), failureSummary: z.string().optional() })),
    }),
  ),
});

/** What is well stays in the page: it is many times the size of the page itself. */
function axeCall(rules: object): string {
  const options = JSON.stringify({ ...rules, resultTypes: ["violations"] });
  return `axe.run(document, ${options}).then(({ violations }) => ({ violations }))`;
}

let source: Promise<string> | undefined;

/** Evaluated as it is: Trusted Types let no page load it. */
function axeSource(): Promise<string> {
  source ??= readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  return source;
}
