/** The mutants that an entry of the negative matrix stands for. */
import { isObject, textOf, type Json, type JsonObject } from "./json.ts";
import { applyPatch, walk, withValueAt, type Path } from "./patch.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PLACEHOLDER = "the lexeme stands here";

export type Mutant =
  | { target: "case"; caseId: string; value: Json }
  | { target: "text"; caseId: string; text: string }
  | { target: "manifest" | "suite"; value: Json }
  | { target: "files"; files: ReadonlyMap<string, Uint8Array> };

/** What is mutated. */
export interface Originals {
  manifest: Json;
  suite: Json;
  cases: ReadonlyMap<string, JsonObject>;
  files: ReadonlyMap<string, Uint8Array>;
}

/** Expands one entry: a patch, an edit of a file, or a generator. */
export function expandMutants(entry: JsonObject, originals: Originals): Mutant[] {
  const { generator, case: caseId, file, target } = entry;
  if (typeof generator === "string") return [...generate(entry, generator, originals)];
  if (typeof caseId === "string") {
    const original = originals.cases.get(caseId) ?? null;
    return [{ target: "case", caseId, value: applyPatch(original, entry["patch"] ?? null) }];
  }
  if (typeof file === "string")
    return [{ target: "files", files: editFile(originals.files, file, entry["edit"]) }];
  if (target === "manifest" || target === "suite") {
    return [{ target, value: applyPatch(originals[target], entry["patch"] ?? null) }];
  }
  throw new Error(`the matrix has an entry of no known form: ${textOf(entry["title"])}`);
}

function* generate(entry: JsonObject, generator: string, originals: Originals): Generator<Mutant> {
  const { family, case: only } = entry;
  for (const [caseId, original] of originals.cases) {
    if ((family !== undefined && original["family"] !== family) || (only !== undefined && caseId !== only))
      continue;
    if (generator === "integer-lexeme") {
      for (const path of integerPaths(original, entry["members"])) {
        const text = JSON.stringify(withValueAt(original, path, PLACEHOLDER));
        yield { target: "text", caseId, text: text.replace(`"${PLACEHOLDER}"`, textOf(entry["lexeme"])) };
      }
      continue;
    }
    for (const value of caseMutants(entry, generator, original)) yield { target: "case", caseId, value };
  }
}

function* caseMutants(entry: JsonObject, generator: string, original: JsonObject): Generator<Json> {
  switch (generator) {
    case "omit-member":
      for (const { path, value } of walk(original)) {
        for (const name of isObject(value) ? Object.keys(value) : []) {
          yield withValueAt(original, [...path, name], undefined);
        }
      }
      break;
    case "wrong-type":
      for (const { path, value } of walk(original["input"] ?? null, ["input"])) {
        const others = otherTypes(value, matchesAny(path, entry["nullable"]));
        for (const other of others) yield withValueAt(original, path, other);
      }
      break;
    case "swap-kinds":
      for (const { path, value } of walk(original["input"] ?? null, ["input"])) {
        const others = typeof value === "boolean" ? [0, 1] : typeof value === "number" ? [true] : [];
        for (const other of others) yield withValueAt(original, path, other);
      }
      break;
    case "uuid-uppercase":
    case "uuid-wrong-type":
      for (const { path, value } of walk(original)) {
        if (typeof value !== "string" || !UUID.test(value) || matchesAny(path, entry["except"])) continue;
        const others = generator === "uuid-uppercase" ? [value.toUpperCase()] : [1, true, [value], {}];
        for (const other of others) yield withValueAt(original, path, other);
      }
      break;
    case "integer-member":
      for (const path of integerPaths(original, entry["members"])) {
        for (const other of listOf(entry["values"])) yield withValueAt(original, path, other);
      }
      break;
    default:
      throw new Error(`unknown generator ${generator}`);
  }
}

function otherTypes(value: Json, isNullable: boolean): Json[] {
  if (value === null) return [{}];
  if (typeof value === "boolean") return [0, 1, "true"];
  if (typeof value === "number") return isNullable ? [String(value), true] : [String(value), true, null];
  if (typeof value === "string") return [7, []];
  return Array.isArray(value) ? [{}] : [[]];
}

/** Whether a path is one of the pointers, in which `*` stands for any one token. */
function matchesAny(path: Path, pointers: Json | undefined): boolean {
  return listOf(pointers).some((pointer) => {
    const tokens = textOf(pointer).split("/").slice(1);
    return (
      tokens.length === path.length &&
      tokens.every((token, index) => token === "*" || token === String(path[index]))
    );
  });
}

function* integerPaths(original: Json, members: Json | undefined): Generator<Path> {
  for (const { path, value } of walk(original)) {
    const name = path.at(-1);
    if (typeof value === "number" && typeof name === "string" && listOf(members).includes(name)) yield path;
  }
}

function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

function editFile(
  files: ReadonlyMap<string, Uint8Array>,
  name: string,
  edit: Json | undefined,
): ReadonlyMap<string, Uint8Array> {
  const changed = new Map(files);
  const bytes = Uint8Array.from(files.get(name) ?? []);
  if (edit === "add") changed.set(name, new TextEncoder().encode("unlisted\n"));
  else if (edit === "remove") changed.delete(name);
  else {
    const place = edit === "flip-bit" ? Math.floor(bytes.length / 2) : 0;
    const byte = bytes[place] ?? 0;
    const zero = 48;
    bytes[place] = edit === "flip-bit" ? byte ^ 1 : byte === zero ? zero + 1 : zero;
    changed.set(name, bytes);
  }
  return changed;
}
