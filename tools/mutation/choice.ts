/** Which of the test files that reach a mutant are tried on it, and in which order. */
import type { Coverage } from "./coverage.ts";

/** What the dry run found out, by test file. */
export type DryRuns = {
  times: Record<string, number>;
  longestTests: Record<string, number>;
  reached: Record<string, Coverage>;
  /** Of a service that starts and stops and does nothing in between. */
  startUp: Coverage;
  /** The mutants of each source. */
  sources: Record<string, readonly string[]>;
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

/**
 * `files` reach the mutant. The source's own test comes first, however long it
 * takes, and then those that do most with the source for their time, where what
 * the start of the service does is not counted.
 */
export function chooseFiles(
  mutant: string,
  files: readonly string[],
  { dryRuns, isThorough }: { dryRuns: DryRuns; isThorough: boolean },
): Choice {
  const [path = "", source = []] =
    Object.entries(dryRuns.sources).find(([, mutants]) => mutants.includes(mutant)) ?? [];
  const ownTest = path.replace(/\.ts$/, ".test.ts");
  const timeOf = (file: string): number => dryRuns.times[file] ?? 0;
  const worthOf = (file: string): number =>
    (1 + source.filter((one) => isBeyond(one, file, dryRuns)).length) / (1 + timeOf(file));
  const isOwn = (file: string): number => Number(file === ownTest);
  const byWorth = files.toSorted((one, other) => isOwn(other) - isOwn(one) || worthOf(other) - worthOf(one));
  const beyond = byWorth.filter((file) => isBeyond(mutant, file, dryRuns));
  const others = byWorth.filter((file) => !beyond.includes(file)).slice(0, OF_START_UP);
  return {
    files: isThorough ? byWorth : byWorth.filter((file) => beyond.includes(file) || others.includes(file)),
    isStartUpOnly: beyond.length === 0 && others.length > 0,
  };
}

function isBeyond(mutant: string, file: string, dryRuns: DryRuns): boolean {
  const count = dryRuns.reached[file]?.[mutant] ?? 0;
  const atStart = dryRuns.startUp[mutant] ?? 0;
  return count > 0 && (count >= BEYOND * atStart || !startsService(file, dryRuns));
}

function startsService(file: string, { reached, startUp }: DryRuns): boolean {
  const atStart = Object.keys(startUp);
  const common = atStart.filter((mutant) => reached[file]?.[mutant] !== undefined);
  return common.length >= STARTS * atStart.length;
}
