/** Which of the test files that reach a mutant are tried on it, and in which order. */
import type { Coverage } from "./coverage.ts";

/** What the dry run found out, by test file. */
export type DryRuns = {
  times: Record<string, number>;
  reached: Record<string, Coverage>;
  /** Of a service that starts and stops and does nothing in between. */
  startUp: Coverage;
};

export type Choice = {
  files: string[];
  /** No file reaches it more often than the start of the service does by itself. */
  isStartUpOnly: boolean;
};

// The counts are powers of two, and a file may start the service twice.
const BEYOND = 4;
/** What a file that starts the service reaches of what its start reaches; one in another role reaches less. */
const STARTS = 0.8;
/** Files that reach a mutant as every start of the service does tell the same about it. */
const OF_START_UP = 2;

/** `files` reach the mutant. Those that reach it beyond the start of the service come first, each group by its times. */
export function chooseFiles(
  mutant: string,
  files: readonly string[],
  { dryRuns, isThorough }: { dryRuns: DryRuns; isThorough: boolean },
): Choice {
  const { times, reached, startUp } = dryRuns;
  const atStart = startUp[mutant] ?? 0;
  const isBeyond = (file: string): boolean =>
    atStart === 0 || (reached[file]?.[mutant] ?? 0) >= BEYOND * atStart || !startsService(file, dryRuns);
  const byTime = files.toSorted((one, other) => (times[one] ?? 0) - (times[other] ?? 0));
  const beyond = byTime.filter(isBeyond);
  const others = byTime.filter((file) => !isBeyond(file));
  return {
    files: [...beyond, ...(isThorough ? others : others.slice(0, OF_START_UP))],
    isStartUpOnly: beyond.length === 0 && others.length > 0,
  };
}

function startsService(file: string, { reached, startUp }: DryRuns): boolean {
  const atStart = Object.keys(startUp);
  const common = atStart.filter((mutant) => reached[file]?.[mutant] !== undefined);
  return common.length >= STARTS * atStart.length;
}
