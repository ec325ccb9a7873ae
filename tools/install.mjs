/**
 * Installs the dependencies when they are absent or older than the lockfile.
 *
 * Runs before every npm script of the project, on whatever Node the machine
 * has (20 or newer), so it imports nothing but Node itself. The scripts that
 * follow run on the Node 24 that this installs into node_modules/.bin.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isInstalled = (folder) => readStamp(folder) === lockHash(folder);
const stampFile = (folder) => join(folder, "node_modules", ".postern-installed");

function lockHash(folder) {
  return createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .update(`${process.platform} ${process.arch}`)
    .digest("hex");
}

function readStamp(folder) {
  try {
    return readFileSync(stampFile(folder), "utf8");
  } catch {
    return "";
  }
}

if (!isInstalled(root)) {
  console.log("Installing dependencies (once, about a minute) …");
  // No dependency needs its install script; not running any is the safer default.
  const result = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: "inherit",
  });
  if (result.status !== 0) {
    console.error(
      "npm ci failed. Check that the npm registry can be reached, then run the same command again.",
    );
    process.exit(1);
  }
  const version = spawnSync(join(root, "node_modules", ".bin", "node"), ["--version"], { encoding: "utf8" });
  const major = Number(/^v(\d+)/.exec(version.stdout ?? process.version)?.[1]);
  if (version.error && Number(process.versions.node.split(".")[0]) < 24) {
    console.error(
      `Postern runs on Node 24. No build of it is packaged for ${process.platform}-${process.arch}: install Node 24 and run the same command again.`,
    );
    process.exit(1);
  }
  if (!version.error && major < 24) {
    console.error(`Expected Node 24 in node_modules/.bin, found ${version.stdout.trim()}.`);
    process.exit(1);
  }
  writeFileSync(stampFile(root), lockHash(root));
}
