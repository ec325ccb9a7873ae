/**
 * What a new catalog changes for receivers, by plain rules. A schema change
 * breaks them when a member that was always there may be missing, or a value may
 * have a type that it never had. docs/how-to/add-an-event-type.md has the rules.
 */
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { nameOf, newestOf } from "./catalog.ts";
import type { CatalogEntry } from "./catalog-entry.ts";

/** `unclear`: the schemas differ in a keyword that the rules do not follow. */
export type SchemaEffect = { path: string; text: string; verdict: "breaks" | "unclear" };

/** `type` names the version too, where the type has several. */
export type TypeChange =
  | { kind: "added" | "removed" | "deprecated" | "undeprecated"; type: string }
  /** No effects: the schema changed compatibly. */
  | { kind: "changed"; type: string; effects: SchemaEffect[] }
  /** Endpoints that name no version get another one; the effects are those on what they got. */
  | { kind: "newest"; type: string; effects: SchemaEffect[] };

type Schema = Readonly<Record<string, unknown>>;
const object = z.record(z.string(), z.unknown()).catch({});

const ALL_TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"];
const UNFOLLOWED = [
  "$ref",
  "$dynamicRef",
  "$defs",
  "definitions",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentSchemas",
  "dependentRequired",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "prefixItems",
];

export function breaks(change: TypeChange): boolean {
  if (change.kind === "changed" || change.kind === "newest")
    return change.effects.some(({ verdict }) => verdict === "breaks");
  return change.kind === "removed";
}

/** Changes by version, in the order of the new catalog; then removed ones, and types with another newest version. */
export function compareCatalogs(
  before: readonly CatalogEntry[],
  after: readonly CatalogEntry[],
): TypeChange[] {
  const former = new Map(before.map((entry) => [nameOf(entry), entry]));
  const present = new Set(after.map(nameOf));
  const label = labelling([...before, ...after]);
  return [
    ...after.flatMap((entry) => changesOf(former.get(nameOf(entry)), entry, label(entry))),
    ...before
      .filter((entry) => !present.has(nameOf(entry)))
      .map((entry): TypeChange => ({ kind: "removed", type: label(entry) })),
    ...newestChanges(before, after),
  ];
}

/** A type's name is enough where it has the first version alone. */
function labelling(entries: readonly CatalogEntry[]): (entry: CatalogEntry) => string {
  const versioned = new Set(entries.filter(({ version }) => version > 1).map(({ type }) => type));
  return (entry) => (versioned.has(entry.type) ? nameOf(entry) : entry.type);
}

function newestChanges(before: readonly CatalogEntry[], after: readonly CatalogEntry[]): TypeChange[] {
  return [...new Set(after.map(({ type }) => type))].flatMap((type): TypeChange[] => {
    const [former, present] = [newestIn(before, type), newestIn(after, type)];
    if (former === undefined || present === undefined || former.version === present.version) return [];
    const effects = effectsOf(former.schema, present.schema, "data");
    return [{ kind: "newest", type: nameOf(present), effects }];
  });
}

function newestIn(entries: readonly CatalogEntry[], type: string): CatalogEntry | undefined {
  return newestOf(entries.filter((entry) => entry.type === type));
}

function changesOf(before: CatalogEntry | undefined, after: CatalogEntry, type: string): TypeChange[] {
  if (before === undefined) return [{ kind: "added", type }];
  const changes: TypeChange[] = [];
  if (before.deprecated !== after.deprecated) {
    changes.push({ kind: after.deprecated ? "deprecated" : "undeprecated", type });
  }
  if (!isDeepStrictEqual(before.schema, after.schema)) {
    changes.push({ kind: "changed", type, effects: effectsOf(before.schema, after.schema, "data") });
  }
  return changes;
}

function effectsOf(before: unknown, after: unknown, path: string): SchemaEffect[] {
  const [former, present] = [schemaOf(before), schemaOf(after)];
  const effects: SchemaEffect[] = UNFOLLOWED.filter(
    (keyword) => !isDeepStrictEqual(former[keyword], present[keyword]),
  ).map((keyword) => ({
    path,
    text: `differs in ${keyword}, which is not compared: look yourself`,
    verdict: "unclear",
  }));
  const [formerTypes, presentTypes] = [typesOf(former), typesOf(present)];
  if (presentTypes.some((type) => !formerTypes.includes(type))) {
    const text = `was ${nameTypes(formerTypes)}, and may be ${nameTypes(presentTypes)}`;
    effects.push({ path, text, verdict: "breaks" });
  }
  effects.push(...memberEffects(former, present, path));
  if (former["items"] !== undefined) {
    effects.push(...effectsOf(former["items"], present["items"], `${path}[]`));
  }
  return effects;
}

function memberEffects(former: Schema, present: Schema, path: string): SchemaEffect[] {
  const [formerMembers, presentMembers] = [schemaOf(former["properties"]), schemaOf(present["properties"])];
  const [wasRequired, isRequired] = [requiredOf(former), requiredOf(present)];
  const lost = wasRequired
    .filter((name) => !isRequired.includes(name))
    .map((name): SchemaEffect => {
      const text = Object.hasOwn(presentMembers, name)
        ? "was always there, and is optional"
        : "was always there, and is gone";
      return { path: `${path}.${name}`, text, verdict: "breaks" };
    });
  const kept = Object.keys(formerMembers).filter(
    (name) => Object.hasOwn(presentMembers, name) || isRequired.includes(name),
  );
  const within = kept.flatMap((name) =>
    effectsOf(formerMembers[name], presentMembers[name], `${path}.${name}`),
  );
  return [...lost, ...within];
}

/** Anything that is no object, `true` for one, allows every value as `{}` does. */
function schemaOf(value: unknown): Schema {
  return object.parse(value);
}

function requiredOf({ required }: Schema): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** Every integer is a number. */
function typesOf({ type }: Schema): string[] {
  const named: unknown[] = Array.isArray(type) ? type : type === undefined ? ALL_TYPES : [type];
  const types = named.filter((name) => typeof name === "string");
  return types.includes("number") && !types.includes("integer") ? [...types, "integer"] : types;
}

function nameTypes(types: readonly string[]): string {
  if (ALL_TYPES.every((type) => types.includes(type))) return "anything";
  return types.filter((type) => type !== "integer" || !types.includes("number")).join(" or ");
}
