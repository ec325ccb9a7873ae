/** What a run of StrykerJS came to: the survivors by line, and the figures of docs/testing.md. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const position = z.object({ line: z.number(), column: z.number() });
const reportSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.string(),
      mutants: z.array(
        z.object({
          mutatorName: z.string(),
          replacement: z.string().optional(),
          status: z.string(),
          location: z.object({ start: position, end: position }),
        }),
      ),
    }),
  ),
});
export type Report = z.infer<typeof reportSchema>;
type Mutant = Report["files"][string]["mutants"][number];

export type Figures = { part: string; noticed: number; accepted: number; open: number };

const acceptedSchema = z.array(
  z.object({ file: z.string(), code: z.string(), replacement: z.string(), why: z.string().min(10) }),
);
type Accepted = z.infer<typeof acceptedSchema>;

export function readReport(file: string): Report {
  return reportSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** Prints what no test noticed and no entry of accepted.json explains, and entries that explain nothing any more. */
export function printSurvivors(root: string, part: string, report: Report): Figures {
  const accepted = acceptedSchema.parse(
    JSON.parse(readFileSync(join(root, "tools", "mutation", "accepted.json"), "utf8")),
  );
  const used = new Set<Accepted[number]>();
  const figures: Figures = { part, noticed: 0, accepted: 0, open: 0 };
  for (const [file, { source, mutants }] of Object.entries(report.files)) {
    for (const mutant of mutants) {
      if (mutant.status === "Killed" || mutant.status === "Timeout" || mutant.status === "RuntimeError")
        figures.noticed += 1;
      if (mutant.status !== "Survived" && mutant.status !== "NoCoverage") continue;
      const code = codeOf(source, mutant);
      const replacement = oneLine(mutant.replacement ?? "");
      const entry = accepted.find(
        (one) => one.file === file && one.code === code && one.replacement === replacement,
      );
      if (entry !== undefined) {
        used.add(entry);
        figures.accepted += 1;
        continue;
      }
      figures.open += 1;
      const { line, column } = mutant.location.start;
      const unreached = mutant.status === "NoCoverage" ? " (no test reaches it)" : "";
      console.log(`${file}:${line}:${column} ${mutant.mutatorName}${unreached}`);
      console.log(`    - ${code}\n    + ${replacement}`);
    }
  }
  const stale = accepted.filter((entry) => entry.file in report.files && !used.has(entry));
  for (const { file, code } of stale)
    console.log(`tools/mutation/accepted.json: a test notices this, or it is gone: ${file} ${code}`);
  return figures;
}

export function printFigures(all: readonly Figures[]): void {
  console.log("\n| part | mutants | noticed | explained | open | noticed of the rest |");
  console.log("|---|---|---|---|---|---|");
  for (const { part, noticed, accepted, open } of all) {
    const share = noticed + open === 0 ? "–" : `${Math.floor((100 * noticed) / (noticed + open))} %`;
    console.log(
      `| \`${part}\` | ${noticed + accepted + open} | ${noticed} | ${accepted} | ${open} | ${share} |`,
    );
  }
}

function codeOf(source: string, { location: { start, end } }: Mutant): string {
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
