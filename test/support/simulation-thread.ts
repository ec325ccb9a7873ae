/**
 * Simulations in a thread. node:test follows every promise of the main thread
 * with an async hook, and a simulation is made of promises: with the hook it
 * takes several times the CPU time. A thread has no such hook.
 *
 * The test file asks for trials one after the other. A trial that finds a fault
 * throws an AssertionError, which goes back as text. Any other error ends the
 * thread and fails the test.
 */
import assert, { AssertionError } from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { inspect } from "node:util";
import { parentPort, Worker } from "node:worker_threads";

export type Trial = (seed: number) => Promise<void>;

/** A fault of the code that a trial must find. `breakIt` answers how to mend it. */
export type Breakage = { noticedBy: Trial; breakIt: () => () => void };

type Play = { kind: "trial" | "breakage"; name: string; seed: number };

/** Shorter than the time limit of a test, so that a hanging trial fails with its name. */
const LIMIT_MS = 110_000;

/** Named, since the linter takes a message without a second argument for one to another window. */
const NO_TRANSFERS: [] = [];

/** The test file's side. */
export class SimulationThread {
  readonly #module: URL;
  readonly #seed: number;
  #worker: Worker | null = null;

  /** The module calls `playTrials`. */
  constructor(module: URL, seed: number) {
    this.#module = module;
    this.#seed = seed;
  }

  /** Fails if the trial finds a fault. */
  async assertHolds(trial: string): Promise<void> {
    const fault = await this.#play({ kind: "trial", name: trial, seed: this.#seed });
    assert.ok(fault === null, `seed ${this.#seed}: ${fault}`);
  }

  /** Fails if the breakage's trial finds no fault. */
  async assertNoticed(breakage: string): Promise<void> {
    const fault = await this.#play({ kind: "breakage", name: breakage, seed: this.#seed });
    assert.ok(fault !== null, `seed ${this.#seed}: not noticed`);
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = null;
  }

  async #play(play: Play): Promise<string | null> {
    const worker = (this.#worker ??= new Worker(this.#module));
    const over = new AbortController();
    const { signal } = over;
    try {
      worker.postMessage(play, NO_TRANSFERS);
      // Each of these fails on the thread's error as well.
      const [fault] = await Promise.race([
        once(worker, "message", { signal }),
        once(worker, "exit", { signal }).then(([code]) => assert.fail(`the thread exited with ${code}`)),
        wait(LIMIT_MS, null, { signal }).then(() => assert.fail(`no end after ${LIMIT_MS} ms`)),
      ]);
      assert.ok(fault === null || typeof fault === "string");
      return fault;
    } catch (error) {
      await this.stop();
      throw new Error(`the thread of seed ${play.seed} failed`, { cause: error });
    } finally {
      over.abort();
    }
  }
}

/** The thread's side. Nothing in a process that only reads the names. */
export function playTrials(trials: Record<string, Trial>, breakages: Record<string, Breakage>): void {
  const answer = async ({ kind, name, seed }: Play): Promise<void> => {
    const breakage = kind === "breakage" ? breakages[name] : undefined;
    const trial = breakage?.noticedBy ?? trials[name];
    if (trial === undefined) throw new Error(`no ${kind} has the name ${name}`);
    parentPort?.postMessage(await faultOf(() => trial(seed), breakage), NO_TRANSFERS);
  };
  // An error is an unhandled rejection, which ends the thread.
  parentPort?.on("message", (play: Play) => void answer(play));
}

async function faultOf(play: () => Promise<void>, breakage: Breakage | undefined): Promise<string | null> {
  const mend = breakage?.breakIt();
  try {
    await play();
    return null;
  } catch (error) {
    if (error instanceof AssertionError) return inspect(error);
    throw error;
  } finally {
    mend?.();
  }
}
