/**
 * `npm test`: the checks, then every test on one real database server, and those
 * of test/oldest on another, of the oldest PostgreSQL that is supported.
 *
 * `npm test -- endpoints` runs the test files with that word in their path,
 * without the checks. The last lines are the summary of node's test runner and
 * the slowest files; the exit status is 1 when a check or a test failed.
 */
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { prepareDeployTools } from "../test/support/deploy-tools.ts";
import { findPgBouncer } from "../test/support/pgbouncer.ts";
import { prepareApiTools } from "../test/support/api-tools.ts";
import { prepareMoto } from "../test/support/moto.ts";
import { prepareNats } from "../test/support/nats-cluster.ts";
import { OLDEST, SERVER, startTestServer } from "../test/support/postgres.ts";
import { BUNDLED_PROGRAM } from "../test/support/program.ts";
import { prepareVersitygw } from "../test/support/versitygw.ts";
import { prepareChromium } from "../portal/test/support/chromium.ts";
import { buildProgram } from "./build.ts";
import { runChecks } from "./check.ts";
import { runFiles } from "./run-files.ts";
import { forgetShellsOwn } from "./shells-own.ts";
import { preparePython } from "./suite/python.ts";

const root = dirname(import.meta.dirname);
const words = process.argv.slice(2);
// Files that run at once. Each waits for programs and receivers of its own for half of its time: four left two cores idle for a tenth of a run. At most 12, since all share two servers of databases.
const CONCURRENCY = Math.min(Math.max(5, Math.ceil(2.5 * availableParallelism())), 12);
/** For all of them on one server, each with pools and programs of its own. */
const CONNECTIONS = { max_connections: String(50 * CONCURRENCY) };
// A wait in vain ends a test, not the whole run.
const TEST_LIMIT_MS = 120_000;
const LIMITS = { concurrency: CONCURRENCY, testMs: TEST_LIMIT_MS, endMs: TEST_LIMIT_MS + 30_000 };
/** Words in the paths of the files that take longest. They begin first: one that began last would end long after all others. */
const LONGEST = [
  "tenant-moves",
  "moves-beside-work",
  "storage-lifecycle-suite",
  "storage-lifecycle-sabotage",
  "schemathesis",
  "shard-outages",
  "test/outages",
  "export-crashes",
  "-kills",
  "shard-handovers",
  "portal/test/exports",
  "failover",
  "test/release",
  "worker-simulation",
  "sessions-on-views",
  "intake-outages",
  "intake-moves",
  "intake-shards",
  "test/slots",
  "portal/test/log",
  "test/demo",
  "crash-series",
  "dead-workers",
  "large-pages",
  "noisy-neighbours",
];

/**
 * Programs in Go are built for one run: without inlined functions, and without
 * what debuggers and `go version` read, that takes a third less CPU. The same
 * flags for all, so that Go's own library is compiled once.
 */
const GO_FLAGS = '"-gcflags=all=-l -dwarf=false" -ldflags=-s -buildvcs=false';

process.exitCode = await main();

async function main(): Promise<number> {
  const files = globSync(
    ["src/**/*.test.ts", "test/**/*.test.ts", "tools/**/*.test.ts", "portal/test/**/*.test.ts"],
    {
      cwd: root,
      // Packages that tests alone need bring tests of their own.
      exclude: ["**/node_modules/**"],
    },
  )
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .sort();
  if (files.length === 0) {
    console.error(
      words.length === 0 ? "No test files." : `No test file has ${words.join(" or ")} in its path.`,
    );
    return 1;
  }
  // The tests run even so: who changes something wants to see both.
  const isClean = words.length > 0 || runChecks();
  if (!isClean) console.log("\nA check failed (above). The tests follow; the exit status will be 1.");
  console.log("");
  process.env["GOFLAGS"] = `${process.env["GOFLAGS"] ?? ""} ${GO_FLAGS}`.trim();
  // Here, since a test's own time limit is too short to build or install a program.
  if (files.some((file) => file.includes("/s3-"))) {
    const missing = [prepareVersitygw(console.log), prepareMoto(console.log)].filter((why) => why !== null);
    for (const why of missing) console.log(`${why}: its tests do not run.`);
  }
  if (files.some((file) => file.includes("/intake") || file.endsWith("/outages.test.ts"))) {
    const why = prepareNats(console.log);
    if (why !== null) console.log(`${why}: the intake is not tested.`);
  }
  if (files.some((file) => file.endsWith("/starting.test.ts"))) {
    const found = findPgBouncer(console.log);
    if ("missing" in found) console.log(`${found.missing}: Postern is not tested behind it.`);
  }
  if (files.some((file) => file.endsWith("/deploy.test.ts"))) prepareDeployTools(console.log);
  if (files.some((file) => file.includes("/api-"))) {
    for (const [language, why] of Object.entries(await prepareApiTools(console.log))) {
      if (why !== null) console.log(`${why}: the client in ${language} is not tested.`);
    }
  }
  if (files.some((file) => file.includes("portal"))) {
    const why = prepareChromium(console.log);
    if (why !== null) console.log(`${why}: the portal is not tested in a browser.`);
  }
  // Two test files at once would make the same environment twice.
  if (files.some((file) => file.includes("/storage-lifecycle-"))) preparePython(root, console.log);
  const wantsOldest = files.some((file) => file.startsWith("test/oldest/"));
  const [server, oldest] = await Promise.all([
    startTestServer(undefined, CONNECTIONS),
    wantsOldest ? startTestServer(OLDEST, CONNECTIONS) : undefined,
  ]);
  try {
    // For a few files it would take longer than it saves. A folder in the root, as dist, which has a test of its own.
    const program = words.length === 0 ? await buildProgram(join(root, ".built")) : undefined;
    setEnvironment({
      ...(program === undefined ? {} : { [BUNDLED_PROGRAM]: program }),
      [SERVER.url]: server.url,
      ...(oldest === undefined ? {} : { [SERVER.oldestUrl]: oldest.url }),
      // Hundreds of processes load the same modules.
      NODE_COMPILE_CACHE: join(root, ".cache", "compiled"),
    });
    const status = await runFiles(root, longestFirst(files), LIMITS);
    return isClean ? status : Math.max(status, 1);
  } finally {
    await Promise.all([server.stop(), oldest?.stop()]);
  }
}

function longestFirst(files: readonly string[]): string[] {
  return files.toSorted((one, other) => placeOf(one) - placeOf(other));
}

function placeOf(file: string): number {
  const place = LONGEST.findIndex((word) => file.includes(word));
  return place === -1 ? LONGEST.length : place;
}

/** For this process, and so for the test files and their programs. */
function setEnvironment(given: NodeJS.ProcessEnv): void {
  forgetShellsOwn(process.env);
  Object.assign(process.env, given);
}
