/** Tries a mutant on test files until one notices it. */
import { MUTATION } from "../../test/support/mutation.ts";
import type { FileResult } from "./test-file.ts";
import type { Turns } from "./turns.ts";

export type TrialResult =
  | { kind: "noticed"; file: string; result: Exclude<FileResult, { kind: "passed" }>; tried: number }
  | { kind: "unnoticed"; tried: number };

export type RunFile = (file: string, limitMs: number, env: Record<string, string>) => Promise<FileResult>;

// Beside a second mutant and on a busy machine.
const SLOWER = 3;
const SLACK_MS = 8000;
const SHORTEST_WAIT_MS = 4000;
/** The sum of a mutant's test files, by the times of the dry run. What takes longer is not tried. */
const LIMIT_MS = 30_000;

export type Trial = {
  mutant: string;
  files: readonly string[];
  timeOf: (file: string) => number;
  longestTestOf: (file: string) => number;
  isThorough: boolean;
  run: RunFile;
  turns: Turns;
  /** Called with a file whose failure did not repeat. */
  unrepeated: (file: string) => void;
};

export async function tryMutant(trial: Trial): Promise<TrialResult> {
  const { files, timeOf, isThorough, turns, unrepeated } = trial;
  let sumMs = 0;
  let tried = 0;
  for (const file of files) {
    sumMs += timeOf(file);
    if (!isThorough && tried > 0 && sumMs > LIMIT_MS) break;
    tried += 1;
    const first = await turns.beside(() => tryFile(trial, file, 1));
    if (first.kind === "passed") continue;
    // Once more, because a test may fail by chance; alone, where it may be for the load.
    const again = () => tryFile(trial, file, 2);
    const result = await (isLate(first) ? turns.alone(again) : turns.beside(again));
    if (result.kind !== "passed") return { kind: "noticed", file, result, tried };
    unrepeated(file);
  }
  return { kind: "unnoticed", tried };
}

function isLate(result: FileResult): boolean {
  return result.kind === "overdue" || (result.kind === "failed" && result.isLate);
}

function tryFile(
  { mutant, timeOf, longestTestOf, run }: Trial,
  file: string,
  patience: number,
): Promise<FileResult> {
  const waitMs = patience * Math.max(SHORTEST_WAIT_MS, 2 * longestTestOf(file));
  return run(file, patience * (SLACK_MS + SLOWER * timeOf(file)), {
    [MUTATION.active]: mutant,
    [MUTATION.waitLimit]: String(Math.round(waitMs)),
  });
}
