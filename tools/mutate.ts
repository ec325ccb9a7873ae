/**
 * `npm run mutate -- src/outbound`: changes that folder in many small ways, one
 * at a time, and prints each change that no related test notices. Without a
 * folder it goes through every part of `src`, which takes a night. What it says
 * and what it costs: docs/testing.md.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { installOwnPackages } from "../test/support/own-packages.ts";
import { SERVER, startTestServer } from "../test/support/postgres.ts";
import {
  describeSurvivors,
  printFigures,
  readAccepted,
  readReport,
  type Figures,
  type Report,
} from "./mutation/report.ts";
import { relatedTests } from "./mutation/related.ts";

const root = dirname(import.meta.dirname);
const packages = join(root, "test", "mutation");
const cache = join(root, ".cache", "mutation");
// Each mutant's tests keep one core busy.
const CONCURRENCY = 2;

process.exitCode = await main(process.argv.slice(2).map((path) => path.replace(/\/$/, "")));

async function main(asked: string[]): Promise<number> {
  const missing = asked.find((path) => !path.startsWith("src/") || !existsSync(join(root, path)));
  if (missing !== undefined) {
    console.error(
      `There is no ${missing}. Name a folder or a file of src, as in: npm run mutate -- src/outbound`,
    );
    return 1;
  }
  await installOwnPackages(packages, () => console.log("Installing StrykerJS (once, 50 MB) …"));
  const parts = asked.length > 0 ? asked : allParts();
  const server = await startTestServer();
  const accepted = readAccepted();
  const figures: Figures[] = [];
  try {
    for (const part of parts) {
      const report = await mutate(part, server.url);
      if (report === null) return 1;
      const found = describeSurvivors(report, accepted);
      console.log(found.lines.join("\n"));
      figures.push({ part, ...found.figures });
    }
  } finally {
    await server.stop();
  }
  printFigures(figures);
  return 0;
}

/** The slices; storage, by far the largest, by its layers. */
function allParts(): string[] {
  return globSync(["src/*/*.ts", "src/storage/*/*.ts"], { cwd: root })
    .map((file) => dirname(file).replaceAll("\\", "/"))
    .filter((part, index, parts) => parts.indexOf(part) === index)
    .sort();
}

/** Null when it could not be done; Stryker has said why. */
async function mutate(part: string, databaseUrl: string): Promise<Report | null> {
  const tests = relatedTests(root, part);
  console.log(`\n${part}: ${tests.length} test files\n`);
  mkdirSync(cache, { recursive: true });
  const name = part.replaceAll("/", "-");
  const reportFile = join(cache, `${name}.json`);
  rmSync(reportFile, { force: true });
  const config = join(cache, `${name}.config.json`);
  writeFileSync(config, JSON.stringify(configure(part, tests, reportFile)));
  const stryker = spawn(
    process.execPath,
    [join(packages, "node_modules", "@stryker-mutator", "core", "bin", "stryker.js"), "run", config],
    {
      cwd: root,
      stdio: "inherit",
      env: {
        ...process.env,
        [SERVER.url]: databaseUrl,
        NODE_COMPILE_CACHE: join(cache, "compiled"),
      },
    },
  );
  const [code] = await once(stryker, "exit");
  return code === 0 && existsSync(reportFile) ? readReport(reportFile) : null;
}

function configure(part: string, tests: readonly string[], reportFile: string): object {
  const isFile = part.endsWith(".ts");
  return {
    mutate: isFile ? [part] : [`${part}/**/*.ts`, `!${part}/**/*.test.ts`],
    testRunner: "node-test",
    nodeTest: { testFiles: tests },
    plugins: ["runner.ts", "words.ts"].map((file) => join(root, "tools", "mutation", file)),
    ignorers: ["words"],
    coverageAnalysis: "perTest",
    concurrency: CONCURRENCY,
    dryRunTimeoutMinutes: 60,
    // The runner has a limit for each file.
    timeoutMS: 3_600_000,
    disableTypeChecks: false,
    tempDirName: join(".cache", "mutation", "sandboxes"),
    // Stryker would rewrite tsconfig.json through an API that TypeScript 7 does not have.
    ignorePatterns: [
      "tsconfig.json",
      ".built",
      ".cache",
      ".ci",
      "bench",
      "dist",
      "release",
      ".postern",
      "portal/dist",
      "suites/**/validation-result.json",
    ],
    // What was noticed stays noticed until the line or the test changes.
    incremental: true,
    incrementalFile: `${reportFile}.known`,
    reporters: ["json", "progress-append-only"],
    jsonReporter: { fileName: reportFile },
    allowConsoleColors: false,
    allowEmpty: true,
    checkForUpdates: false,
    logLevel: "warn",
    warnings: false,
  };
}
