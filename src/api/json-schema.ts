/** JSON Schema of Zod schemas, as the OpenAPI document and generators of clients want it. */
import * as z from "zod";

export type JsonSchema = { $defs?: Record<string, JsonSchema>; [keyword: string]: unknown };

/** An object with a name of its own becomes a reference to the document's components. */
export function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _dialect, $defs: _named, ...rest } = convert(schema, io);
  return rest;
}

/** The schema behind a name, for the document's components. */
export function namedJsonSchema(name: string, schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $defs = {} } = convert(z.object({ it: schema }), io);
  return { ...$defs[name] };
}

function convert(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const made = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override({ jsonSchema }) {
      // Zod spells a format out as a pattern of hundreds of characters, which adds nothing for a reader.
      if (jsonSchema.format !== undefined || jsonSchema.type === "integer") delete jsonSchema.pattern;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (io === "output" && jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const text = JSON.stringify(made, (_name, value: unknown) => withAlternatives(value));
  return JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/'));
}

/** Generators of clients know alternatives, and few know a list of types. A type or null is known to all. */
function withAlternatives(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("type" in value) || !Array.isArray(value.type))
    return value;
  if (value.type.includes("null")) return value;
  const { type: types, ...rest } = value;
  return { ...rest, anyOf: types.map((type: unknown) => ({ type })) };
}
