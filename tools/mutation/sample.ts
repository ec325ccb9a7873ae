/** Mutants chosen by chance: what they say of a part in minutes, where trying all of it takes hours. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { Report } from "./report.ts";

/** By number; another seed chooses others. */
export type SampleSize = { size: number; seed: string };

/** Of the mutants of a part, which are named by file and place in it so that each run chooses the same. */
export function chooseSample(
  numbering: ReadonlyMap<string, readonly string[]>,
  { size, seed }: SampleSize,
): string[] {
  const all = [...numbering].flatMap(([file, ids]) =>
    ids.map((id, place) => ({
      id,
      rank: createHash("sha256").update(`${seed}:${file}:${place}`).digest("hex"),
    })),
  );
  return all
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
    .slice(0, size)
    .map(({ id }) => id);
}

export function readChosen(file: string): ReadonlySet<string> {
  return new Set<string>(JSON.parse(readFileSync(file, "utf8")));
}

/** The report without the mutants that were not chosen. */
export function onlySample({ files }: Report, chosen: ReadonlySet<string>): Report {
  return {
    files: Object.fromEntries(
      Object.entries(files).map(([file, { source, mutants }]) => [
        file,
        { source, mutants: mutants.filter(({ id }) => chosen.has(id)) },
      ]),
    ),
  };
}

/** What was left out has no result, so that a later run tries it. */
export function forgetLeftOut(knownFile: string, leftOut: ReadonlySet<string>): void {
  const known: { files: Record<string, { mutants: { id: string }[] }> } = JSON.parse(
    readFileSync(knownFile, "utf8"),
  );
  for (const file of Object.values(known.files)) {
    file.mutants = file.mutants.filter(({ id }) => !leftOut.has(id));
  }
  writeFileSync(knownFile, JSON.stringify(known));
}
