/**
 * What the other tools do not look at: the length of files and functions,
 * notes left for later, tests switched off, and who reads the environment.
 */
import { globSync, readFileSync } from "node:fs";
import { findLongFunctions, MAX_FUNCTION_LINES } from "./long-functions.ts";

const MAX_LINES = 400;
const THIS_FILE = /^tools[\\/]tidy(\.test)?\.ts$/;
const GENERATED = /^portal[\\/]src[\\/]api[\\/]schema\.d\.ts$/;

type Rule = { message: string; pattern: RegExp; applies: (file: string) => boolean };

const everywhere = (): boolean => true;
const RULES: Rule[] = [
  { message: "a note for later: do it, or write an issue", pattern: /\b(TODO|FIXME)\b/, applies: everywhere },
  {
    message: "a test that runs alone, or not at all",
    pattern: /\b(?:it|test|describe|suite)\.(?:only|skip|todo)\b/,
    applies: everywhere,
  },
  {
    message: "only src/config.ts reads the environment: take the value as an option",
    pattern:
      /\bprocess\s*(?:\?\.|\.)\s*env\b|\bprocess\s*\[\s*["'`]env["'`]|\benv\b[^;]*\bfrom\s+["'](?:node:)?process["']|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b/,
    applies: (file) => file.startsWith("src/") && file !== "src/config.ts" && !file.endsWith(".test.ts"),
  },
];

/** The faults of one file, each as `file:line message`. `file` is relative to the root, with slashes. */
export function checkText(file: string, text: string): string[] {
  const faults: string[] = [];
  const lines = text.split("\n");
  if (lines.length - 1 > MAX_LINES)
    faults.push(`${file}:1 has ${lines.length - 1} lines, at most ${MAX_LINES}`);
  for (const { message, pattern, applies } of RULES) {
    if (!applies(file)) continue;
    for (const [index, line] of lines.entries()) {
      if (pattern.test(line)) faults.push(`${file}:${index + 1} ${message}`);
    }
  }
  return [...faults, ...checkFunctions(file, text)];
}

function checkFunctions(file: string, text: string): string[] {
  if (!/^src\/.*\.ts$/.test(file) || file.endsWith(".test.ts")) return [];
  return findLongFunctions(text).map(
    ({ name, line, lines }) =>
      `${file}:${line} ${name} has ${lines} lines, at most ${MAX_FUNCTION_LINES}: split it`,
  );
}

/** Checks the sources under `folders` of `root`. Proves its rules on seeded breaks first. */
export function checkTidy(root: string, folders: string[]): string[] {
  const seeded = [
    checkText("src/events/x.ts", "const url = process.env.DATABASE_URL;"),
    checkText("src/events/x.ts", 'import { env } from "node:process";'),
    checkText("src/events/x.ts", ["// TO", "DO: later"].join("")),
    checkText("src/events/x.ts", `const makeX = () => {${"\n".repeat(MAX_FUNCTION_LINES)}};`),
  ];
  if (seeded.some((faults) => faults.length !== 1))
    return ["tools/tidy.ts does not see its own seeded breaks"];
  const files = globSync(
    folders.map((folder) => `${folder}/**/*.{ts,tsx,mjs}`),
    { cwd: root, exclude: ["**/node_modules/**"] },
  );
  if (files.length === 0) return ["tools/tidy.ts saw no file"];
  return files
    .filter((file) => !THIS_FILE.test(file) && !GENERATED.test(file))
    .flatMap((file) => checkText(file.replaceAll("\\", "/"), readFileSync(`${root}/${file}`, "utf8")));
}
