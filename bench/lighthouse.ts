/** Lighthouse, from a folder with a lockfile of its own, on a page of the portal. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import * as z from "zod";
import { chromiumPath } from "../portal/test/support/chromium.ts";
import { installOwnPackages } from "../test/support/own-packages.ts";

const FOLDER = join(import.meta.dirname, "lighthouse");
const CATEGORIES = ["performance", "accessibility", "best-practices"] as const;

const report = z.object({
  categories: z.record(
    z.string(),
    z.object({
      score: z.number().nullable(),
      auditRefs: z.array(z.object({ id: z.string(), weight: z.number() })),
    }),
  ),
  audits: z.record(
    z.string(),
    z.object({ score: z.number().nullable(), displayValue: z.string().optional() }),
  ),
});

export async function prepareLighthouse(): Promise<void> {
  await installOwnPackages(FOLDER, () => console.error("Installing Lighthouse (once) …"));
}

/** Scores of 100 by category, the page's times, and the audits that cost points. Desktop as Lighthouse has it, or its slow phone. */
export async function judge(url: string, form: "desktop" | "mobile"): Promise<Record<string, unknown>> {
  const args = [
    join(FOLDER, "node_modules", "lighthouse", "cli", "index.js"),
    url,
    "--quiet",
    "--output=json",
    `--only-categories=${CATEGORIES.join(",")}`,
    "--chrome-flags=--headless=new --no-sandbox --disable-dev-shm-usage",
    ...(form === "desktop" ? ["--preset=desktop"] : []),
  ];
  const env = { ...process.env, CHROME_PATH: chromiumPath() ?? "" };
  const run = spawnSync(process.execPath, args, { encoding: "utf8", env, maxBuffer: 64 * 1024 * 1024 });
  assert.equal(run.status, 0, run.stderr);
  const { categories, audits } = report.parse(JSON.parse(run.stdout));
  const scores = CATEGORIES.map((name) => [name, Math.round(100 * (categories[name]?.score ?? 0))]);
  const counted = CATEGORIES.flatMap((name) => categories[name]?.auditRefs ?? []);
  const lost = counted.filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 0.9);
  const shown = (id: string): string => audits[id]?.displayValue ?? "";
  return {
    ...Object.fromEntries(scores),
    FCP: shown("first-contentful-paint"),
    LCP: shown("largest-contentful-paint"),
    TBT: shown("total-blocking-time"),
    CLS: shown("cumulative-layout-shift"),
    lost: lost.map(({ id }) => id).join(" "),
  };
}
