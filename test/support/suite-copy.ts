/** Copies of the storage-lifecycle suite to be sabotaged, and runs of its validator on them. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { preparePython } from "../../tools/suite/python.ts";

export const checkout = dirname(dirname(import.meta.dirname));
export const suiteFolder = join(checkout, "suites", "storage-lifecycle");

const evidenceShape = z.object({
  state: z.string(),
  counts: z.record(z.string(), z.number()),
  cases: z.array(z.object({ id: z.string(), status: z.string() })),
  negativeMatrix: z.object({ identical: z.boolean(), runs: z.array(z.object({ sha256: z.string() })) }),
  production: z
    .object({
      runner: z.string(),
      families: z.array(z.string()),
      cases: z.number(),
      identical: z.boolean(),
      challenge: z.number(),
    })
    .nullable(),
  blockers: z.array(z.object({ code: z.string(), detail: z.string() })),
});

export interface Ended {
  status: number | null;
  output: string;
}

/** Runs a command to its end, with what it printed. */
export async function run(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  const child = spawn(command, args, { cwd: checkout, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (data) => (output += String(data)));
  child.stderr.on("data", (data) => (output += String(data)));
  await once(child, "close");
  return { status: child.exitCode, output };
}

/** The Python with the validator's packages, installed where it is not yet there. */
export function suitePython(): string {
  const python = preparePython(checkout, () => {});
  assert.equal(python?.problem, null);
  return python?.command ?? "";
}

export function evidenceFile(folder: string): string {
  return join(folder, "validation-result.json");
}

export function readEvidence(folder: string) {
  return evidenceShape.parse(JSON.parse(readFileSync(evidenceFile(folder), "utf8")));
}

/** A copy of the suite without what earlier runs left in it. */
export function copySuite(folder: string, name: string): string {
  const copy = join(folder, name.replaceAll(/[^a-z0-9]+/gi, "-"));
  cpSync(suiteFolder, copy, {
    recursive: true,
    filter: (from) => !/-result\.json/.test(from) && !from.includes("__pycache__"),
  });
  return copy;
}

/** Changes one file's text; the change must change something. */
export function edit(copy: string, file: string, change: (text: string) => string): void {
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  const changed = change(text);
  assert.notEqual(changed, text, `nothing changed in ${file}`);
  writeFileSync(path, changed);
}

/** JSON files are in a layout, and some are made by the validator's own code. */
const LAID_OUT = /\.json$|^validator\/mutants\.py$/;

/** Seals a copy of which these files were changed as its owner would, so that its digests betray nothing. */
export async function seal(copy: string, changed: readonly string[]): Promise<void> {
  const layout = changed.some((file) => LAID_OUT.test(file)) ? ["--fmt"] : [];
  const { status, output } = await run(suitePython(), [join(copy, "validate.py"), ...layout, "--seal"]);
  assert.equal(status, 0, output);
}

/** The blockers of a copy whose evidence says BLOCKED; none where there is no evidence. */
export function blockersOf(copy: string): string[] {
  if (!existsSync(evidenceFile(copy))) return [];
  const { state, blockers } = readEvidence(copy);
  assert.equal(state, "BLOCKED");
  return blockers.map(({ code, detail }) => `${code} ${detail}`);
}
