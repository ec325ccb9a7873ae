/**
 * `npm test`: the checks, then every test on one real database server, and those
 * of test/oldest on another, of the oldest PostgreSQL that is supported.
 *
 * `npm test -- endpoints` runs the test files with that word in their path,
 * without the checks. The last lines are the summary of node's test runner and
 * the slowest files; the exit status is 1 when a check or a test failed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { prepareDeployTools } from "../test/support/deploy-tools.ts";
import { prepareApiTools } from "../test/support/api-tools.ts";
import { prepareMoto } from "../test/support/moto.ts";
import { prepareNats } from "../test/support/nats-cluster.ts";
import { OLDEST, SERVER, startTestServer } from "../test/support/postgres.ts";
import { prepareVersitygw } from "../test/support/versitygw.ts";
import { prepareChromium } from "../portal/test/support/chromium.ts";
import { runChecks } from "./check.ts";
import { preparePython } from "./suite/python.ts";

const root = dirname(import.meta.dirname);
const words = process.argv.slice(2);
// Files that run at once. Each waits for programs and receivers of its own for half of its time, so three keep two cores busy.
const CONCURRENCY = 3;
// A wait in vain ends a test, not the whole run.
const TEST_LIMIT_MS = 120_000;

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
  // Here, since a test's own time limit is too short to build or install a program.
  if (files.some((file) => file.includes("/s3-"))) {
    const missing = [prepareVersitygw(console.log), prepareMoto(console.log)].filter((why) => why !== null);
    for (const why of missing) console.log(`${why}: its tests do not run.`);
  }
  if (files.some((file) => file.includes("/intake"))) {
    const why = prepareNats(console.log);
    if (why !== null) console.log(`${why}: the intake is not tested.`);
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
  const servers = await Promise.all([startTestServer(), ...(wantsOldest ? [startTestServer(OLDEST)] : [])]);
  try {
    const status = await runTests(files, {
      [SERVER.url]: servers[0].url,
      [SERVER.oldestUrl]: servers[1]?.url,
    });
    return isClean ? status : Math.max(status, 1);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function keepRunning(): void {
  // A listener of any kind keeps a signal from ending this process.
}

async function runTests(files: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const args = [
    "--test",
    `--test-concurrency=${CONCURRENCY}`,
    `--test-timeout=${TEST_LIMIT_MS}`,
    // A hook that waits in vain would keep its file, and with it the run, for ever.
    "--test-force-exit",
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    `--test-reporter=${pathToFileURL(join(import.meta.dirname, "slow-files.ts")).href}`,
    "--test-reporter-destination=stdout",
    ...files,
  ];
  const runner = spawn(process.execPath, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...ownEnvironment(), ...env },
  });
  // A Ctrl-C reaches the runner too: it reports and ends, and then we stop the server.
  const end = (): void => void runner.kill("SIGTERM");
  process.on("SIGINT", keepRunning);
  process.on("SIGTERM", end);
  const [code, signal] = await once(runner, "exit");
  process.off("SIGINT", keepRunning);
  process.off("SIGTERM", end);
  if (typeof code === "number") return code;
  return isSignal(signal) ? 128 + constants.signals[signal] : 1;
}

/** Without what a developer's shell may set for other programs: PYTHONUNBUFFERED once hid a reference that never flushed. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PYTHON|PG|AWS_)/.test(name)));
}

function isSignal(name: unknown): name is NodeJS.Signals {
  return typeof name === "string" && name in constants.signals;
}
