/** Finds functions of more than 60 lines, with those inside them counted. A class counts method by method. */
import { parseSync } from "@swc/core";

export const MAX_FUNCTION_LINES = 60;

/** Lists of routes or metrics: as long as what they list. */
const LISTS = /^(?:\w+Routes|makeMetrics)$/;

const FUNCTIONS = new Set([
  "ArrowFunctionExpression",
  "ClassMethod",
  "Constructor",
  "FunctionDeclaration",
  "FunctionExpression",
  "GetterProperty",
  "MethodProperty",
  "PrivateMethod",
  "SetterProperty",
]);

export type LongFunction = { name: string; line: number; lines: number };

export function findLongFunctions(text: string): LongFunction[] {
  // The parser counts in bytes from a start of its own, which leaves out comments before the first token:
  // a semicolon in front is a first token whose place is known.
  const source = Buffer.from(`;${text.replace(/^#!/, "//")}`);
  const program: unknown = parseSync(source.toString(), { syntax: "typescript", target: "esnext" });
  const origin = spanOf(program)?.start ?? 0;
  const lineAt = (position: number): number =>
    source
      .subarray(0, position - origin)
      .toString()
      .split("\n").length;
  const found: LongFunction[] = [];
  const visit = (node: unknown, name: string): void => {
    if (Array.isArray(node)) for (const child of node) visit(child, name);
    if (!isNode(node)) return;
    const inner = nameOf(node) ?? name;
    const span = FUNCTIONS.has(String(node["type"])) ? spanOf(node) : null;
    if (span !== null && !LISTS.test(inner)) {
      const line = lineAt(span.start);
      const lines = lineAt(span.end) - line + 1;
      if (lines > MAX_FUNCTION_LINES) found.push({ name: inner, line, lines });
    }
    for (const child of Object.values(node)) visit(child, inner);
  };
  visit(program, "anonymous");
  return found;
}

type Node = Record<string, unknown>;

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A declaration's own name, or that of the variable, property or method whose value it is. */
function nameOf(node: Node): string | null {
  for (const holder of [node["identifier"], node["id"], node["key"]]) {
    if (isNode(holder) && typeof holder["value"] === "string") return holder["value"];
  }
  return null;
}

/** Some methods have their span on the function that they hold. */
function spanOf(node: unknown): { start: number; end: number } | null {
  if (!isNode(node)) return null;
  const span = isNode(node["span"]) ? node["span"] : null;
  if (span === null) return spanOf(node["function"]);
  const { start, end } = span;
  return typeof start === "number" && typeof end === "number" ? { start, end } : null;
}
