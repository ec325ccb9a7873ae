/**
 * `npm run check`: everything about the tree that a tool can tell without
 * running it. One line a check, with its time; what a failed one said below.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkDirections } from "./check-directions.ts";
import { checkTidy } from "./tidy.ts";

const root = dirname(import.meta.dirname);
// Given to the tools by name: without a path oxlint walks node_modules.
const folders = ["src", "test", "tools", "bench", "receivers", "portal/src", "portal/test"].filter((folder) =>
  existsSync(join(root, folder)),
);

type Check = { name: string; run: () => string[] };

const checks: Check[] = [
  { name: "types", run: () => tool("tsc", ["--noEmit", "--project", "."]) },
  { name: "types of the portal", run: () => tool("tsc", ["--noEmit", "--project", "portal"]) },
  { name: "lint", run: () => tool("oxlint", ["--type-aware", "--deny-warnings", ...folders]) },
  { name: "format (npm run format fixes it)", run: () => tool("oxfmt", ["--check", ...folders]) },
  { name: "directions of imports", run: () => checkDirections(folders) },
  { name: "unused files, exports and packages", run: () => tool("knip", ["--no-progress"]) },
  { name: "tidiness", run: () => checkTidy(root, folders) },
];

/** Runs every check, also after one has failed, and prints each. True when all are clean. */
export function runChecks(): boolean {
  let isClean = true;
  for (const { name, run } of checks) {
    const startedAt = performance.now();
    const faults = attempt(run);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${faults.length === 0 ? "✔" : "✖"} ${name} (${seconds} s)`);
    for (const fault of faults) console.log(`    ${fault.replaceAll("\n", "\n    ")}`);
    isClean &&= faults.length === 0;
  }
  return isClean;
}

function attempt(run: () => string[]): string[] {
  try {
    return run();
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** The output of a tool from node_modules that found a fault; empty when it found none. */
function tool(name: string, args: string[]): string[] {
  const program = join(root, "node_modules", ".bin", name);
  const run = spawnSync(process.execPath, [program, ...args], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (run.status === 0) return [];
  const output = `${run.stdout}${run.stderr}`.trim();
  return [output === "" ? `${name} ended with status ${run.status ?? run.signal ?? "none"}` : output];
}

if (import.meta.main) process.exitCode = runChecks() ? 0 : 1;
