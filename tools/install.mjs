/**
 * Installs the dependencies when they are absent or older than the lockfile.
 * With `--portal` those of the portal too, at the same time, and builds it when
 * its sources changed. Its tests' own packages come with `--portal=tests` alone.
 *
 * Runs before every npm script of the project, on whatever Node the machine
 * has (20 or newer), so it imports nothing but Node itself. The scripts that
 * follow run on the Node 24 that this installs into node_modules/.bin.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const hasTests = process.argv.includes("--portal=tests");
const hasPortal = hasTests || process.argv.includes("--portal");
const ownNode = join(root, "node_modules", ".bin", "node");

const portal = { folder: join(root, "portal"), isWhole: hasTests };
const wanted = [{ folder: root, isWhole: true }, ...(hasPortal ? [portal] : [])];
const missing = wanted.filter((one) => !isInstalled(one));
if (missing.length > 0) {
  console.log("Installing dependencies (once, about a minute) …");
  const statuses = await Promise.all(missing.map(npmCi));
  if (statuses.some((status) => status !== 0)) {
    fail("npm ci failed. Check that the npm registry can be reached, then run the same command again.");
  }
  if (missing.some(({ folder }) => folder === root)) requireNode24();
  for (const one of missing) writeFileSync(stampFile(one.folder), stampOf(one));
}
if (hasPortal) {
  const { error } = spawnSync(ownNode, ["--version"]);
  // Where no Node is packaged for this machine, this one is new enough.
  const node = error === undefined ? ownNode : process.execPath;
  const { status } = spawnSync(node, [join(root, "tools", "portal.ts")], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

async function npmCi({ folder, isWhole }) {
  // No dependency needs its install script; not running any is the safer default.
  // Said either way: NODE_ENV=production leaves them out.
  const options = ["--no-audit", "--no-fund", "--loglevel=error", isWhole ? "--include=dev" : "--omit=dev"];
  const result = spawn("npm", ["ci", "--ignore-scripts", ...options], { cwd: folder, stdio: "inherit" });
  const [status] = await once(result, "close");
  return status;
}

function requireNode24() {
  const version = spawnSync(ownNode, ["--version"], { encoding: "utf8" });
  const major = Number(/^v(\d+)/.exec(version.stdout ?? process.version)?.[1]);
  if (version.error && Number(process.versions.node.split(".")[0]) < 24) {
    fail(
      `Postern runs on Node 24. No build of it is packaged for ${process.platform}-${process.arch}: install Node 24 and run the same command again.`,
    );
  }
  if (!version.error && major < 24) {
    fail(`Expected Node 24 in node_modules/.bin, found ${version.stdout.trim()}.`);
  }
}

function isInstalled({ folder, isWhole }) {
  try {
    const stamp = readFileSync(stampFile(folder), "utf8");
    return stamp === lockHash(folder) || (!isWhole && stamp === stampOf({ folder, isWhole }));
  } catch {
    return false;
  }
}

function stampOf({ folder, isWhole }) {
  return isWhole ? lockHash(folder) : `${lockHash(folder)} without dev`;
}

function stampFile(folder) {
  return join(folder, "node_modules", ".postern-installed");
}

function lockHash(folder) {
  return createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .update(`${process.platform} ${process.arch}`)
    .digest("hex");
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
