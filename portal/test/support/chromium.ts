/** Debian's Chromium, in which the portal is tested: without its window where that is installed, for the window takes as much CPU as a page. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const PACKAGE = "chromium-headless-shell";
const PLACES = [
  `/usr/bin/${PACKAGE}`,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
const LIMIT_MS = 300_000;

/** The program; null where there is none. */
export function chromiumPath(): string | null {
  return PLACES.find((path) => existsSync(path)) ?? null;
}

/** Installs Chromium where that can be done. Null when it is there, else why the portal cannot be tested. */
export function prepareChromium(tell: (line: string) => void): string | null {
  if (chromiumPath() !== null) return null;
  const apt = spawnSync("apt-get", ["--version"]);
  if (apt.status !== 0 || process.getuid?.() !== 0) return "Chromium is not installed";
  tell("Installing Chromium (once, 300 MB on disk) …");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options = { env, encoding: "utf8", timeout: LIMIT_MS } as const;
  const install = () =>
    spawnSync("apt-get", ["install", "-y", "--no-install-recommends", PACKAGE, "fonts-inter"], options);
  // The lists of packages may be older than the archive, or absent.
  const isInstalled =
    install().status === 0 ||
    (spawnSync("apt-get", ["update"], options).status === 0 && install().status === 0);
  return isInstalled && chromiumPath() !== null ? null : "Chromium could not be installed";
}
