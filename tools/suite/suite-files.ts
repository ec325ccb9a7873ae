/** Reads a suite's folder: the bytes (rule L-2), then strict JSON (rule L-1). */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, layout, sha256, textOf, type Json, type JsonObject } from "./json.ts";
import { parseStrictBytes } from "./strict-json.ts";

const GENERATED = /^(?:validation|production)-result\.json(?:\.tmp)?$/;
const SUMS = "SHA256SUMS";
const LINE = /^([0-9a-f]{64}) {2}([A-Za-z0-9._/-]+)$/;

export interface SuiteFiles {
  files: ReadonlyMap<string, Uint8Array>;
  /** SHA-256 of SHA256SUMS: one digest for the whole suite; null where that file is absent. */
  suiteRoot: string | null;
  manifest: Json;
  suite: Json;
  cases: ReadonlyMap<string, JsonObject>;
  checks: JsonObject[];
}

/**
 * Reads the folder of a suite.
 *
 * @throws StrictJsonError or Error where a file is absent or no strict JSON, naming the file.
 */
export function readSuite(root: string): SuiteFiles {
  const files = readTree(root);
  const manifest = readJson(files, "manifest.json");
  const suite = readJson(files, "suite.json");
  const matrix = readJson(files, "negative/matrix.json");
  const sums = files.get(SUMS);
  return {
    files,
    suiteRoot: sums === undefined ? null : sha256(sums),
    manifest,
    suite,
    cases: new Map(members(suite, "cases").map((one) => [textOf(one["id"]), one])),
    checks: members(matrix, "checks"),
  };
}

/** Rule L-2: whether the folder holds exactly the listed files, byte for byte. */
export function isSealed(files: ReadonlyMap<string, Uint8Array>): boolean {
  const lines = new TextDecoder().decode(files.get(SUMS)).split("\n").slice(0, -1);
  const listed = new Map(lines.map((line) => LINE.exec(line)).map((match) => [match?.[2], match?.[1]]));
  return (
    listed.size === lines.length &&
    listed.size === files.size - 1 &&
    [...files].every(([name, bytes]) => name === SUMS || listed.get(name) === sha256(bytes))
  );
}

function readTree(root: string): Map<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" }).toSorted()) {
    const path = name.replaceAll("\\", "/");
    const isOurs = !GENERATED.test(path) && !path.split("/").includes("__pycache__");
    const stat = lstatSync(join(root, name));
    if (stat.isSymbolicLink()) throw new Error(`${path} is a symbolic link; the suite has none`);
    if (isOurs && stat.isFile()) found.set(path, readFileSync(join(root, name)));
  }
  return found;
}

function readJson(files: ReadonlyMap<string, Uint8Array>, name: string): Json {
  const bytes = files.get(name);
  if (bytes === undefined) throw new Error(`${name} is absent`);
  try {
    const value = parseStrictBytes(bytes);
    if (layout(value) !== new TextDecoder().decode(bytes)) {
      throw new Error("is not in the canonical layout: `python3 validate.py --fmt` fixes it");
    }
    return value;
  } catch (error) {
    throw new Error(`${name} ${error instanceof Error ? error.message : "cannot be read"}`, { cause: error });
  }
}

function members(value: Json, name: string): JsonObject[] {
  const list = isObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}
