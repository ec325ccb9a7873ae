/** What a run of StrykerJS came to: the survivors by line, and the figures of docs/testing.md. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";

/** A mutant that cannot be loaded fails every test that loads it. */
const NOTICED = new Set(["Killed", "Timeout", "RuntimeError"]);
const SURVIVED = new Set(["Survived", "NoCoverage"]);

/** StrykerJS's own, those of a statement in SQL, or steps that are left out. */
export const CHANGES = ["usual", "sql", "steps"] as const;
export type Changes = (typeof CHANGES)[number];

const position = z.object({ line: z.number(), column: z.number() });
const span = z.object({ start: position, end: position });
export type Span = z.infer<typeof span>;
const reportSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.string(),
      mutants: z.array(
        z.object({
          id: z.string(),
          mutatorName: z.string(),
          replacement: z.string().optional(),
          status: z.string(),
          /** 0 where an unnoticed block surrounds it; absent where it was never tried. */
          testsCompleted: z.number().optional(),
          location: span,
        }),
      ),
    }),
  ),
});
export type Report = z.infer<typeof reportSchema>;
type Mutant = Report["files"][string]["mutants"][number];

/** Of one mutant of a run, by the runner. */
const noteSchema = z.object({
  kind: z.enum(["start-up-only", "within-block", "unrepeated", "left-out"]),
  mutant: z.string(),
  file: z.string().optional(),
});
export type Note = z.infer<typeof noteSchema>;

/** Characters on either side of a change in a statement. */
const AROUND = 30;

export type Counts = { noticed: number; accepted: number; open: number };

const acceptedSchema = z.array(
  z.object({
    file: z.string(),
    changes: z.enum(CHANGES).default("usual"),
    code: z.string(),
    replacement: z.string(),
    why: z.string().min(10),
  }),
);
type Accepted = z.infer<typeof acceptedSchema>;

export function readReport(file: string): Report {
  return reportSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}

export function readAccepted(): Accepted {
  return acceptedSchema.parse(JSON.parse(readFileSync(join(import.meta.dirname, "accepted.json"), "utf8")));
}

export function readNotes(file: string): Note[] {
  const lines = existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
  return lines.map((line) => noteSchema.parse(JSON.parse(line)));
}

/** What a run leaves open about its own figures, in words. */
export function describeNotes(notes: readonly Note[]): string[] {
  const countOf = (kind: Note["kind"]): number => notes.filter((note) => note.kind === kind).length;
  const unrepeated = new Set(notes.flatMap((note) => note.file ?? []));
  const counted: [number, string][] = [
    [
      countOf("within-block"),
      "open without a trial, because nothing noticed that the block around them was gone",
    ],
    [countOf("start-up-only"), "open that only the start of the service reaches, tried on two files"],
    [
      countOf("unrepeated"),
      `failures not counted, because they did not repeat: ${[...unrepeated].join(", ")}`,
    ],
  ];
  return counted.filter(([count]) => count > 0).map(([count, words]) => `${count} ${words}`);
}

/** Mutants that no test noticed and no entry explains, and entries that explain nothing any more. */
export function describeSurvivors(
  report: Report,
  accepted: Accepted,
  { isSample }: { isSample: boolean },
): { lines: string[]; figures: Counts } {
  const used = new Set<Accepted[number]>();
  const figures: Counts = { noticed: 0, accepted: 0, open: 0 };
  const lines: string[] = [];
  for (const [file, { source, mutants }] of Object.entries(report.files)) {
    for (const mutant of mutants) {
      if (NOTICED.has(mutant.status)) figures.noticed += 1;
      if (!SURVIVED.has(mutant.status)) continue;
      const { code, replacement } = changeOf(source, mutant);
      const entry = accepted.find(
        (one) => one.file === file && one.code === code && one.replacement === replacement,
      );
      if (entry === undefined) {
        figures.open += 1;
        lines.push(headOf(file, mutant), `    - ${code}`, `    + ${replacement}`);
      } else {
        figures.accepted += 1;
        used.add(entry);
      }
    }
  }
  // Of a sample, the mutant that an entry explains may not be chosen.
  const stale = accepted.filter((entry) => !isSample && entry.file in report.files && !used.has(entry));
  for (const { file, code } of stale)
    lines.push(`tools/mutation/accepted.json: a test notices this, or it is gone: ${file} ${code}`);
  return { lines, figures };
}

/** On one line; of a statement, where it changed. */
function changeOf(source: string, mutant: Mutant): { code: string; replacement: string } {
  const code = codeOf(source, mutant.location);
  const replacement = oneLine(mutant.replacement ?? "");
  return mutant.mutatorName === "Sql" ? aroundChange(code, replacement) : { code, replacement };
}

/** What differs between two texts, with the words around it. */
export function aroundChange(code: string, replacement: string): { code: string; replacement: string } {
  const shorter = Math.min(code.length, replacement.length);
  let start = 0;
  while (start < shorter && code[start] === replacement[start]) start += 1;
  let rest = 0;
  while (rest < shorter - start && code.at(-1 - rest) === replacement.at(-1 - rest)) rest += 1;
  start = code.lastIndexOf(" ", start - AROUND) + 1;
  const nextWord = code.indexOf(" ", code.length - rest + AROUND);
  rest = nextWord === -1 ? 0 : code.length - nextWord;
  return {
    code: code.slice(start, code.length - rest),
    replacement: replacement.slice(start, replacement.length - rest),
  };
}

function headOf(file: string, { location, mutatorName, status, testsCompleted }: Mutant): string {
  const why = status === "NoCoverage" ? " (no test reaches it)" : testsCompleted === 0 ? " (not tried)" : "";
  return `${file}:${location.start.line}:${location.start.column} ${mutatorName}${why}`;
}

/** Whether `outer` is around it and larger. */
export function isWithin(inner: Span, outer: Span): boolean {
  const startsLater = compare(outer.start, inner.start);
  const endsEarlier = compare(inner.end, outer.end);
  return startsLater <= 0 && endsEarlier <= 0 && (startsLater < 0 || endsEarlier < 0);
}

function compare(one: Span["start"], other: Span["start"]): number {
  return one.line - other.line || one.column - other.column;
}

/** On one line. Lines and columns begin with 1. */
export function codeOf(source: string, { start, end }: Span): string {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  const last = lines.length - 1;
  return oneLine(
    lines
      .map((line, index) =>
        line.slice(index === 0 ? start.column - 1 : 0, index === last ? end.column - 1 : undefined),
      )
      .join("\n"),
  );
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
