/** References within an OpenAPI document, and a self-contained schema of it. */

const MAX_HOPS = 20;
/** Keywords whose value is data, in which a member `$ref` is no reference. */
const DATA = new Set(["const", "default", "enum", "example", "examples"]);
/** Keywords whose value has schemas by name. */
const NAMED = new Set(["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"]);

type Members = Record<string, unknown>;

/** The node itself, or what its `$ref` leads to. Throws an Error when that is outside of the document or missing. */
export function resolveReference(document: unknown, node: unknown): unknown {
  return follow(document, node, () => true);
}

function follow(document: unknown, node: unknown, mayFollow: (node: Members) => boolean): unknown {
  let found = node;
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    if (!isObject(found) || typeof found["$ref"] !== "string" || !mayFollow(found)) return found;
    found = lookUp(document, found["$ref"]);
  }
  throw new Error("its references go around in a circle");
}

/** The schema with every schema that it refers to in its `$defs`. */
export function bundleSchema(document: unknown, schema: Members): Members {
  const names = new Map<string, string>();
  const definitions = new Map<string, unknown>();

  function nameOf(reference: string): string {
    const known = names.get(reference);
    if (known !== undefined) return known;
    const base = (reference.split("/").at(-1) ?? "").replaceAll(/[^A-Za-z0-9_.-]/g, "_");
    let name = base;
    for (let number = 2; definitions.has(name); number++) name = `${base}_${number}`;
    names.set(reference, name);
    definitions.set(name, true);
    definitions.set(name, rewrite(lookUp(document, reference)));
    return name;
  }

  function rewrite(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(rewrite);
    if (!isObject(node)) return node;
    return mapMembers(node, (value, keyword) => {
      if (DATA.has(keyword)) return value;
      if (keyword === "$ref" && typeof value === "string") return `#/$defs/${nameOf(value)}`;
      return NAMED.has(keyword) && isObject(value) ? mapMembers(value, rewrite) : rewrite(value);
    });
  }

  // Keywords beside a reference count too, as JSON Schema has it: data must satisfy both.
  const own = rewrite(follow(document, schema, (node) => Object.keys(node).length === 1));
  if (!isObject(own)) throw new Error("its schema is no object");
  if (definitions.size === 0) return own;
  // Nothing refers to definitions of the schema itself any more.
  return { ...own, $defs: Object.fromEntries(definitions) };
}

/** By a JSON Pointer, RFC 6901. */
function lookUp(document: unknown, reference: string): unknown {
  if (!reference.startsWith("#/")) throw new Error(`${reference} is outside of the document`);
  let node = document;
  for (const segment of reference.slice(2).split("/")) {
    const name = decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, name)) {
      throw new Error(`${reference} leads nowhere`);
    }
    node = Object.entries(node).find(([key]) => key === name)?.[1];
  }
  return node;
}

function mapMembers(members: Members, map: (value: unknown, name: string) => unknown): Members {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(value, name)]));
}

function isObject(node: unknown): node is Members {
  return typeof node === "object" && node !== null && !Array.isArray(node);
}
