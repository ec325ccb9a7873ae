/** npm packages that tests alone need, in a folder with a lockfile of its own. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withFileLock } from "../../src/database/embedded/embedded-lock.ts";

const INSTALL_LIMIT_MS = 300_000;

/**
 * Runs `npm ci` in the folder when it was not run yet or the lockfile changed; `announce` is called
 * before it takes its time. `omitsDev`: packages for development are left out, but may be there.
 */
export async function installOwnPackages(
  folder: string,
  announce: () => void,
  { omitsDev = false } = {},
): Promise<void> {
  const stamp = join(folder, "node_modules", ".postern-installed");
  const lockfile = await readFile(join(folder, "package-lock.json"));
  const hash = createHash("sha256")
    .update(lockfile)
    .update(`${process.platform} ${process.arch}`)
    .digest("hex");
  await withFileLock(join(folder, ".install.lock"), INSTALL_LIMIT_MS, async () => {
    // As tools/install.mjs writes it.
    const wanted = omitsDev ? `${hash} without dev` : hash;
    if ([hash, wanted].includes(await readFile(stamp, "utf8").catch(() => ""))) return;
    announce();
    const options = { cwd: folder, encoding: "utf8" } as const;
    const args = ["--no-audit", "--loglevel=error", omitsDev ? "--omit=dev" : "--include=dev"];
    const result = spawnSync("npm", ["ci", "--ignore-scripts", ...args], options);
    assert.equal(result.status, 0, `npm ci failed in ${folder}: ${result.stderr}`);
    await writeFile(stamp, wanted);
  });
}
