/** Lets a test file run alone among the processes that try mutants, which slow each other down. */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { withFileLock } from "../../src/database/embedded/embedded-lock.ts";

const PAUSE_MS = 25;
/** Longer than any test file may take. */
const LIMIT_MS = 1_800_000;
const MARK = ".mutation-running-";

export class Turns {
  readonly #folder: string;
  readonly #alone: string;
  readonly #mark: string;

  /** `folder` is common to the processes. */
  constructor(folder: string, pid = process.pid) {
    this.#folder = folder;
    this.#alone = join(folder, ".mutation-alone");
    this.#mark = `${MARK}${pid}`;
  }

  /** Waits while another process runs something alone. */
  async beside<T>(work: () => Promise<T>): Promise<T> {
    const mark = join(this.#folder, this.#mark);
    await withFileLock(this.#alone, LIMIT_MS, async () => writeFileSync(mark, ""));
    try {
      return await work();
    } finally {
      rmSync(mark);
    }
  }

  /** Waits until no other process runs anything. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return withFileLock(this.#alone, LIMIT_MS, async () => {
      while (this.#othersRun()) await setTimeout(PAUSE_MS);
      return work();
    });
  }

  #othersRun(): boolean {
    return readdirSync(this.#folder).some(
      (name) => name.startsWith(MARK) && name !== this.#mark && isAlive(Number(name.slice(MARK.length))),
    );
  }
}

/** Stryker starts a process anew that was killed. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
