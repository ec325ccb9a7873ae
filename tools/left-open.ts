/**
 * Loaded into each test file before the file itself: a process that is still
 * alive `limit` milliseconds behind its last test ends with status 1 and says
 * what keeps it. node's own `forceExit` ends a file before all of its results
 * are read, so that a run tells less than it ran. And a process that ends with
 * files open ends with status 1 and names them, where the system tells them.
 */
import { existsSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { after } from "node:test";

const limitMs = Number(new URL(import.meta.url).searchParams.get("limit"));
const DESCRIPTORS = "/proc/self/fd";

// It runs before the file's own hooks, so the limit covers these as well.
after(() => {
  const timer = setTimeout(() => {
    const open = process.getActiveResourcesInfo().filter((kind) => kind !== "PipeWrap");
    console.error(
      `Still alive ${limitMs / 1000} s behind its last test. Close what keeps it: ${open.join(", ")}.`,
    );
    process.exit(1);
  }, limitMs);
  timer.unref();
});

const before = openFiles();
// node reads the shell's own authorities in a thread, and a short file ends before that does.
const authorities = process.env["NODE_EXTRA_CA_CERTS"];
if (authorities !== undefined && existsSync(authorities)) before.push(realpathSync(authorities));
process.on("exit", () => {
  const open = openFiles().filter((file) => !before.includes(file));
  if (open.length === 0) return;
  console.error(`Ended with files open: ${open.join(", ")}.`);
  process.exitCode = 1;
});

/** Paths of files and folders, and none of sockets, pipes and devices. */
function openFiles(): string[] {
  if (!existsSync(DESCRIPTORS)) return [];
  return readdirSync(DESCRIPTORS).flatMap((descriptor) => {
    try {
      const path = readlinkSync(`${DESCRIPTORS}/${descriptor}`);
      return /^\/(?!dev\/|proc\/)/.test(path) ? path : [];
    } catch {
      // That of the list itself.
      return [];
    }
  });
}
