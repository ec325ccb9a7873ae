/**
 * `npm run mutate -- src/outbound`: changes that folder in many small ways, one
 * at a time, and prints each change that no related test notices. Without a
 * folder it goes through every part of `src`, which takes a night. With
 * --thorough, every test that reaches a change is tried on it; with
 * --sample=100, so many of a part's changes are tried, chosen by chance; with
 * --sql it is the statements of SQL that are changed, with --steps one step at
 * a time is left out. What it says and what it costs: docs/testing.md.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { withoutSlash } from "../src/shared/without-slash.ts";
import { installOwnPackages } from "../test/support/own-packages.ts";
import { SERVER, startTestServer } from "../test/support/postgres.ts";
import { printFigures, type Figures } from "./mutation/figures.ts";
import {
  describeNotes,
  describeSurvivors,
  readAccepted,
  readNotes,
  readReport,
  type Changes,
  type Report,
} from "./mutation/report.ts";
import { relatedTests } from "./mutation/related.ts";
import type { NodeTestOptions } from "./mutation/runner.ts";
import { forgetLeftOut, onlySample, readChosen, type SampleSize } from "./mutation/sample.ts";

const root = dirname(import.meta.dirname);
const packages = join(root, "test", "mutation");
const cache = join(root, ".cache", "mutation");
// Each mutant's tests keep one core busy.
const CONCURRENCY = 2;

type How = { isThorough: boolean; changes: Changes; sample: SampleSize | null };
type Asked = { parts: string[]; how: How };

process.exitCode = await main(process.argv.slice(2));

async function main(words: string[]): Promise<number> {
  let asked: Asked;
  try {
    asked = readWords(words);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
  await installOwnPackages(packages, () => console.log("Installing StrykerJS (once, 50 MB) …"));
  const server = await startTestServer();
  const figures: Figures[] = [];
  try {
    for (const part of asked.parts) {
      const figure = await mutate(part, server.url, asked.how);
      if (figure === null) return 1;
      figures.push(figure);
    }
  } finally {
    await server.stop();
  }
  printFigures(figures);
  return 0;
}

/** Throws an Error that says what is wrong with them. */
function readWords(words: string[]): Asked {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      thorough: { type: "boolean", default: false },
      sql: { type: "boolean", default: false },
      steps: { type: "boolean", default: false },
      sample: { type: "string" },
      seed: { type: "string" },
    },
  });
  const parts = positionals.map(withoutSlash);
  const missing = parts.find((path) => !path.startsWith("src/") || !existsSync(join(root, path)));
  if (missing !== undefined) {
    throw new Error(
      `There is no ${missing}. Name a folder or a file of src, as in: npm run mutate -- src/outbound`,
    );
  }
  const { thorough: isThorough, sql, steps, sample, seed } = values;
  if (sql && steps) throw new Error("--sql and --steps are different changes: give one of them");
  const changes = sql ? "sql" : steps ? "steps" : "usual";
  if (sample === undefined && seed !== undefined)
    throw new Error("--seed chooses a sample: give its size too, as in: --sample=100");
  const size = Number(sample ?? 1);
  if (!Number.isInteger(size) || size < 1)
    throw new Error(`--sample=${sample} is not a number of mutants, as in: --sample=100`);
  return {
    parts: parts.length > 0 ? parts : allParts(),
    how: { isThorough, changes, sample: sample === undefined ? null : { size, seed: seed ?? "1" } },
  };
}

/** The slices; storage, by far the largest, by its layers. */
function allParts(): string[] {
  return globSync(["src/*/*.ts", "src/storage/*/*.ts"], { cwd: root })
    .map((file) => dirname(file).replaceAll("\\", "/"))
    .filter((part, index, parts) => parts.indexOf(part) === index)
    .sort();
}

/** Files of a part share what is known of their tests and mutants. */
function wholePartOf(asked: string): string {
  const depth = asked.startsWith("src/storage/") ? 3 : 2;
  return asked.split("/", depth).join("/");
}

/** Prints the survivors. Null when it could not be done; Stryker has said why. */
async function mutate(asked: string, databaseUrl: string, how: How): Promise<Figures | null> {
  const part = wholePartOf(asked);
  // Of the part, also for a file: a test may reach the file over several others.
  const testFiles = relatedTests(root, part);
  console.log(`\n${asked}: ${testFiles.length} test files\n`);
  mkdirSync(cache, { recursive: true });
  const name = join(cache, `${part.replaceAll("/", "-")}${how.changes === "usual" ? "" : `.${how.changes}`}`);
  // What some tests did not notice is open for all of them.
  const known = how.isThorough ? `${name}.thorough.known` : `${name}.known`;
  const files = { report: `${name}.json`, notes: `${name}.notes`, known, chosen: `${name}.chosen` };
  for (const file of [files.report, files.notes, files.chosen]) rmSync(file, { force: true });
  const config = `${name}.config.json`;
  const nodeTest = {
    ...how,
    testFiles,
    knownRuns: `${name}.dry-runs`,
    notes: files.notes,
    chosen: files.chosen,
  };
  writeFileSync(config, JSON.stringify(configure(asked, how.changes, nodeTest, files)));
  const code = await runStryker(config, databaseUrl);
  if (code !== 0 || !existsSync(files.report)) return null;
  const notes = readNotes(files.notes);
  const leftOut = notes.filter(({ kind }) => kind === "left-out").map(({ mutant }) => mutant);
  forgetLeftOut(files.known, new Set(leftOut));
  const whole = only(asked, readReport(files.report));
  const isSample = how.sample !== null;
  const report = isSample ? onlySample(whole, readChosen(files.chosen)) : whole;
  const accepted = readAccepted().filter(({ changes }) => changes === how.changes);
  const found = describeSurvivors(report, accepted, { isSample });
  console.log([...found.lines, "", ...describeNotes(notes)].join("\n"));
  const all = describeSurvivors(whole, [], { isSample }).figures;
  return { part: asked, of: isSample ? all.noticed + all.open : null, ...found.figures };
}

async function runStryker(config: string, databaseUrl: string): Promise<number | null> {
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
        // The command's first line asks for node, and tests start it as it is.
        PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
      },
    },
  );
  const [code] = await once(stryker, "exit");
  return code;
}

/** Without what is known of the other files of its part. */
function only(asked: string, { files }: Report): Report {
  const kept = Object.entries(files).filter(([file]) => file === asked || file.startsWith(`${asked}/`));
  return { files: Object.fromEntries(kept) };
}

function configure(
  asked: string,
  changes: Changes,
  nodeTest: NodeTestOptions,
  { report, known }: { report: string; known: string },
): object {
  return {
    mutate: asked.endsWith(".ts") ? [asked] : [`${asked}/**/*.ts`, `!${asked}/**/*.test.ts`],
    testRunner: "node-test",
    nodeTest,
    plugins: ["runner.ts", "words.ts", ...(changes === "usual" ? [] : [`${changes}-mutator.ts`])].map(
      (file) => join(root, "tools", "mutation", file),
    ),
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
      ".venv",
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
    incrementalFile: known,
    reporters: ["json", "progress-append-only"],
    jsonReporter: { fileName: report },
    allowConsoleColors: false,
    allowEmpty: true,
    checkForUpdates: false,
    logLevel: "warn",
    warnings: false,
  };
}
