/** TypeScript types of an event: from the JSON Schema of its data, else from the example. */
import type { components } from "../../api/schema.d.ts";

type EventType = components["schemas"]["EventType"];
type Entry = Pick<EventType, "type" | "version" | "description" | "payloadShape"> & {
  schema?: EventType["schema"] | undefined;
};
type Schema = { readonly [keyword: string]: unknown };
/** Names of the schema's definitions, by their references. */
type Names = ReadonlyMap<string, string>;

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** A module with the type of the whole body, of its data, and of each definition of the schema. */
export function typeScriptOf({ type, version, description, payloadShape, schema }: Entry): string {
  const name = `${nameOf(type)}${version > 1 ? `V${version}` : ""}`;
  const names = namesOf(schema, name);
  const data = schema === undefined ? typeOfExample(payloadShape) : typeOfSchema(schema, names);
  const definitions = Object.entries(definitionsOf(schema)).map(
    ([key, part]) =>
      `export type ${names.get(`#/$defs/${key}`) ?? "unknown"} = ${typeOfSchema(part, names)};`,
  );
  const event = objectType([
    "id: string;",
    `event: ${JSON.stringify(type)};`,
    "created_at: string;",
    `data: ${name};`,
  ]);
  return [
    `${comment(description)}export type ${name}Event = ${event};`,
    `export type ${name} = ${data};`,
    ...definitions,
  ]
    .join("\n\n")
    .concat("\n");
}

function nameOf(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^[A-Z]/.test(name) ? name : `Type${name}`;
}

function definitionsOf(schema: unknown): Schema {
  const { $defs } = Object(schema);
  return Object(typeof $defs === "object" ? $defs : {});
}

function namesOf(schema: unknown, name: string): Names {
  const names = new Map([["#", name]]);
  const taken = new Set([name, `${name}Event`]);
  for (const key of Object.keys(definitionsOf(schema))) {
    let own = `${name}${nameOf(key)}`;
    while (taken.has(own)) own += "_";
    taken.add(own);
    names.set(`#/$defs/${key}`, own);
  }
  return names;
}

function typeOfSchema(schema: unknown, names: Names): string {
  if (schema === false) return "never";
  if (typeof schema !== "object" || schema === null) return "unknown";
  const known: Schema = { ...schema };
  if (typeof known["$ref"] === "string") return names.get(known["$ref"]) ?? "unknown";
  if ("const" in known) return literal(known["const"]);
  if (Array.isArray(known["enum"])) return union(known["enum"].map(literal));
  const parts = [known["anyOf"], known["oneOf"]]
    .filter((list) => Array.isArray(list))
    .map((list) => union(list.map((one: unknown) => typeOfSchema(one, names))));
  if (Array.isArray(known["allOf"])) {
    parts.push(...known["allOf"].map((one: unknown) => typeOfSchema(one, names)));
  }
  const own = ownType(known, names);
  return intersection(own === "unknown" ? parts : [own, ...parts]);
}

function ownType(schema: Schema, names: Names): string {
  const { type } = schema;
  if (Array.isArray(type)) return union(type.map((one) => typeNamed(one, schema, names)));
  if (typeof type === "string") return typeNamed(type, schema, names);
  if ("properties" in schema) return objectOf(schema, names);
  return "items" in schema || "prefixItems" in schema ? arrayOf(schema, names) : "unknown";
}

function typeNamed(type: unknown, schema: Schema, names: Names): string {
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "number":
    case "integer":
      return "number";
    case "array":
      return arrayOf(schema, names);
    case "object":
      return objectOf(schema, names);
    default:
      return "unknown";
  }
}

function objectOf({ properties, required, additionalProperties }: Schema, names: Names): string {
  const needed = new Set(Array.isArray(required) ? required : []);
  const lines = Object.entries(Object(properties)).map(([key, part]) => {
    const { description } = Object(part);
    const about = typeof description === "string" ? comment(description) : "";
    return `${about}${member(key, needed.has(key))}: ${typeOfSchema(part, names)};`;
  });
  if (additionalProperties === false) return lines.length === 0 ? "Record<string, never>" : objectType(lines);
  if (lines.length > 0) return objectType(lines);
  return `Record<string, ${typeOfSchema(additionalProperties, names)}>`;
}

function arrayOf({ items, prefixItems }: Schema, names: Names): string {
  if (!Array.isArray(prefixItems)) return listOf(typeOfSchema(items, names));
  const first = prefixItems.map((one: unknown) => typeOfSchema(one, names));
  return `[${[...first, ...(items === false ? [] : [`...${listOf(typeOfSchema(items, names))}`])].join(", ")}]`;
}

function typeOfExample(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return listOf(value.length === 0 ? "unknown" : union(value.map(typeOfExample)));
  if (typeof value !== "object") return typeof value;
  const lines = Object.entries(value).map(([key, part]) => `${member(key, true)}: ${typeOfExample(part)};`);
  return lines.length === 0 ? "Record<string, unknown>" : objectType(lines);
}

function literal(value: unknown): string {
  return typeof value === "object" && value !== null ? typeOfExample(value) : JSON.stringify(value);
}

function member(key: string, isNeeded: boolean): string {
  return `${IDENTIFIER.test(key) ? key : JSON.stringify(key)}${isNeeded ? "" : "?"}`;
}

function objectType(lines: readonly string[]): string {
  return `{\n${lines.join("\n").replaceAll(/^/gm, "  ")}\n}`;
}

function listOf(type: string): string {
  return /^[\w"]+(?:\[\])*$/.test(type) ? `${type}[]` : `Array<${type}>`;
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  return distinct.length === 0 ? "never" : distinct.join(" | ");
}

function intersection(types: readonly string[]): string {
  if (types.length === 0) return "unknown";
  return types.length === 1 ? (types[0] ?? "unknown") : types.map((one) => `(${one})`).join(" & ");
}

function comment(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").replaceAll("*/", "*\\/").trim();
  return line === "" ? "" : `/** ${line} */\n`;
}
