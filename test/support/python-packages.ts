/** Python packages that tests need: installed once, where pip is, and kept in the checkout's cache. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

const CACHE = join(import.meta.dirname, "..", "..", ".cache");
const INSTALL_LIMIT_MS = 300_000;

/** `requirements` is a file that pins every package, those that others need included. */
export type PythonPackages = { name: string; requirements: string; about: string };

/** The folder to name in PYTHONPATH. */
export function packagesFolder({ name, requirements }: PythonPackages): string {
  const pins = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  return join(CACHE, `${name}-${pins}`);
}

/** Installs them where they are not there yet. Null when they are ready, else why they cannot be had. */
export function preparePythonPackages(packages: PythonPackages, tell: (line: string) => void): string | null {
  const { name, requirements, about } = packages;
  const folder = packagesFolder(packages);
  if (existsSync(folder)) return null;
  if (spawnSync("python3", ["-m", "pip", "--version"]).status !== 0) {
    return `Python's pip is not installed, so ${name} was not`;
  }
  tell(`Installing ${name}, ${about} (once, half a minute) …`);
  // Under another name until it is whole: an installation that was killed leaves nothing half.
  const draft = `${folder}-${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
  const install = spawnSync("python3", [...pip, "--target", draft, "--requirement", requirements], {
    encoding: "utf8",
    timeout: INSTALL_LIMIT_MS,
  });
  if (install.status === 0 && !existsSync(folder)) renameSync(draft, folder);
  rmSync(draft, { recursive: true, force: true });
  if (existsSync(folder)) return null;
  return `${name} was not installed: ${install.error?.message ?? install.stderr.trim().split("\n").at(-1) ?? ""}`;
}
