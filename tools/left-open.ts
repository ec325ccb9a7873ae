/**
 * Loaded into each test file before the file itself: a process that is still
 * alive `limit` milliseconds behind its last test ends with status 1 and says
 * what keeps it. node's own `forceExit` ends a file before all of its results
 * are read, so that a run tells less than it ran.
 */
import { after } from "node:test";

const limitMs = Number(new URL(import.meta.url).searchParams.get("limit"));

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
