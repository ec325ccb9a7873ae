/**
 * A second object store for tests: moto, which knows every setting of a bucket
 * that the rules ask for. It checks no signature, so nothing else is tested on it.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { freePort, startStore, type ObjectStoreProcess } from "./versitygw.ts";

const REQUIREMENTS = join(import.meta.dirname, "moto-requirements.txt");
const PINS = createHash("sha256").update(readFileSync(REQUIREMENTS)).digest("hex").slice(0, 12);
const PACKAGES = join(import.meta.dirname, "..", "..", ".cache", `moto-${PINS}`);
const INSTALL_LIMIT_MS = 300_000;

/** Installs it where it is not there yet. Null when it is ready, else why it cannot be had. */
export function prepareMoto(tell: (line: string) => void = () => undefined): string | null {
  if (existsSync(PACKAGES)) return null;
  if (spawnSync("python3", ["-m", "pip", "--version"]).status !== 0) {
    return "Python's pip is not installed, so moto was not";
  }
  tell("Installing moto, an object store for tests (once, half a minute) …");
  // Under another name until it is whole: an installation that was killed leaves nothing half.
  const draft = `${PACKAGES}-${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
  const install = spawnSync("python3", [...pip, "--target", draft, "--requirement", REQUIREMENTS], {
    encoding: "utf8",
    timeout: INSTALL_LIMIT_MS,
  });
  if (install.status === 0 && !existsSync(PACKAGES)) renameSync(draft, PACKAGES);
  rmSync(draft, { recursive: true, force: true });
  if (existsSync(PACKAGES)) return null;
  return `moto was not installed: ${install.error?.message ?? install.stderr.trim().split("\n").at(-1) ?? ""}`;
}

/** Starts an empty one, and gives this process a credential. Call `prepareMoto` first. */
export async function startMoto(): Promise<ObjectStoreProcess> {
  const port = await freePort();
  const args = ["-m", "moto.server", "--host", "127.0.0.1", "--port", String(port)];
  return startStore("python3", args, { port, env: { PYTHONPATH: PACKAGES } });
}
