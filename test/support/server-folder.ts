/** Where the servers of tests keep their rows. */
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const MEMORY = "/dev/shm";
/** Rows, indexes and WAL of a whole run, and as much again for the other server. */
const NEEDED_BYTES = 8 * 2 ** 30;

/** In memory where there is plenty of it: databases are cloned faster there, and nothing waits for the disk. */
export function serverFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= NEEDED_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
