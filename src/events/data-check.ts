import type { ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

/** One fault of an event's data against its type's schema. */
export type DataFault = { path: string[]; message: string };

export type DataCheck = (data: unknown) => DataFault[];

/** Compiles a JSON Schema 2020-12; throws an Error when it is none. */
export type DataCheckCompiler = (schema: Record<string, unknown>) => DataCheck;

/** One for each catalog: a compiler refuses a schema whose `$id` it has seen. */
export function makeDataCheckCompiler(): DataCheckCompiler {
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
  return (schema) => {
    const validate = ajv.compile(schema);
    return (data) => {
      if (validate(data)) return [];
      return (validate.errors ?? []).map((fault) => ({
        path: fault.instancePath.split("/").slice(1).map(nameOf),
        message: [fault.message ?? "does not satisfy the schema", ...detailOf(fault)].join(": "),
      }));
    };
  };
}

/** A name as JSON Pointer has it, RFC 6901 section 4. */
function nameOf(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

const MAX_DETAIL = 200;

/** What ajv knows of a fault and leaves out of its message: the member that is one too many, or the values that there are. */
function detailOf({ keyword, params }: ErrorObject): [] | [string] {
  const { additionalProperty, unevaluatedProperty, propertyName, allowedValue, allowedValues } = params;
  const name: unknown = additionalProperty ?? unevaluatedProperty ?? propertyName;
  if (typeof name === "string") return [shortened(name)];
  if (keyword === "const") return [shortened(JSON.stringify(allowedValue))];
  if (!Array.isArray(allowedValues)) return [];
  return [shortened(allowedValues.map((value) => JSON.stringify(value)).join(", "))];
}

function shortened(text: string): string {
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL).toWellFormed()}…` : text;
}
