/** JSON Patch (RFC 6902: add, remove, replace, copy, move) on a copy of a value. */
import { isObject, textOf, type Json } from "./json.ts";

/** A path of member names and list indexes. */
export type Path = readonly (string | number)[];

/** The patch does not fit the value. */
export class PatchError extends Error {}

/** Applies the steps of a patch, as they stand in the matrix; the value itself stays as it is. */
export function applyPatch(value: Json, steps: Json): Json {
  const root = { value: structuredClone(value) };
  for (const step of Array.isArray(steps) ? steps : []) {
    if (!isObject(step)) throw new PatchError("a step is no object");
    const path = toPath(step["path"]);
    switch (step["op"]) {
      case "add":
        insert(root.value, path, structuredClone(step["value"] ?? null));
        break;
      case "replace":
        remove(root.value, path);
        insert(root.value, path, structuredClone(step["value"] ?? null));
        break;
      case "remove":
        remove(root.value, path);
        break;
      case "copy":
        insert(root.value, path, structuredClone(valueAt(root.value, toPath(step["from"]))));
        break;
      case "move":
        insert(root.value, path, remove(root.value, toPath(step["from"])));
        break;
      default:
        throw new PatchError(`unknown operation ${textOf(step["op"])}`);
    }
  }
  return root.value;
}

/** The value with another one at a path, or without it where the other is undefined. Shares the rest. */
export function withValueAt(value: Json, path: Path, other: Json | undefined): Json {
  const [token, ...rest] = path;
  if (token === undefined) return other ?? null;
  if (Array.isArray(value) && typeof token === "number") {
    const below = rest.length === 0 ? other : withValueAt(value[token] ?? null, rest, other);
    return below === undefined ? value.toSpliced(token, 1) : value.with(token, below);
  }
  if (!isObject(value) || typeof token === "number") throw new PatchError(`nothing stands at ${token}`);
  const below = rest.length === 0 ? other : withValueAt(value[token] ?? null, rest, other);
  if (below !== undefined) return { ...value, [token]: below };
  const { [token]: _, ...others } = value;
  return others;
}

/** Every value below and including this one, with its path. */
export function* walk(value: Json, path: Path = []): Generator<{ path: Path; value: Json }> {
  yield { path, value };
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* walk(item, [...path, index]);
  } else if (isObject(value)) {
    for (const [name, item] of Object.entries(value)) yield* walk(item, [...path, name]);
  }
}

function toPath(pointer: Json | undefined): string[] {
  if (typeof pointer !== "string" || !pointer.startsWith("/")) throw new PatchError("not a JSON pointer");
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueAt(value: Json, path: readonly string[]): Json {
  let current = value;
  for (const token of path) {
    const below: Json | undefined = Array.isArray(current)
      ? current[Number(token)]
      : isObject(current)
        ? current[token]
        : undefined;
    if (below === undefined) throw new PatchError(`nothing stands at ${token}`);
    current = below;
  }
  return current;
}

function parentOf(value: Json, path: readonly string[]): { parent: Json; token: string } {
  const token = path.at(-1);
  if (token === undefined) throw new PatchError("the whole value cannot be patched");
  return { parent: valueAt(value, path.slice(0, -1)), token };
}

function insert(value: Json, path: readonly string[], item: Json): void {
  const { parent, token } = parentOf(value, path);
  if (Array.isArray(parent)) parent.splice(token === "-" ? parent.length : Number(token), 0, item);
  else if (isObject(parent)) parent[token] = item;
  else throw new PatchError(`${token} leads into a value that is neither object nor list`);
}

function remove(value: Json, path: readonly string[]): Json {
  const { parent, token } = parentOf(value, path);
  const removed = valueAt(parent, [token]);
  if (Array.isArray(parent)) parent.splice(Number(token), 1);
  else if (isObject(parent)) delete parent[token];
  return removed;
}
