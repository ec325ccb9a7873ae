/**
 * A lock on a folder between processes of one machine, held while a server is
 * being started in it.
 *
 * Node has no flock. The lock is a file that appears with its content in one
 * step (a hard link), naming the process that holds it; one whose process is
 * gone counts as free. PostgreSQL's own postmaster.pid backs it up: two
 * servers never run on one cluster even if this lock failed.
 */
import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../../shared/error-code.ts";
import { isRunning, ownMark, parseMark } from "./embedded-process.ts";

const POLL_MS = 50;

/**
 * Runs `work` while this process alone holds the lock file at `path`.
 * Throws after `timeoutMs` of waiting, naming the process that holds it.
 */
export async function withFileLock<T>(path: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const token = JSON.stringify({ ...ownMark(), token: randomUUID() });
  const deadline = performance.now() + timeoutMs;
  while (!(await tryLock(path, token))) {
    if (performance.now() > deadline) {
      throw new Error(
        `Another process is starting the embedded database and did not finish in ${timeoutMs / 1000} s. ` +
          `After a crash that may take minutes: see server.log, and start again then. ` +
          `Otherwise stop the process that ${path} names, or delete that file if no such process runs.`,
      );
    }
    await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    if ((await readIfThere(path)) === token) await rm(path, { force: true });
  }
}

async function tryLock(path: string, token: string): Promise<boolean> {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, token, { mode: 0o600 });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    await dropIfAbandoned(path);
    return false;
  } finally {
    await rm(draft, { force: true });
  }
}

async function dropIfAbandoned(path: string): Promise<void> {
  const seen = await readIfThere(path);
  if (seen === undefined) return;
  const holder = parseMark(seen);
  if (holder !== undefined && isRunning(holder)) return;
  // Move it away first: had another process replaced it since we read it, what
  // we hold now is a live lock, and it goes back.
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    if ((await readIfThere(aside)) !== seen) await link(aside, path);
  } catch (error) {
    if (!hasCode(error, "ENOENT", "EEXIST")) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
