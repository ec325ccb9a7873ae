import { Ajv2020 } from "ajv/dist/2020.js";

/** One fault of an event's data against its type's schema. */
export type DataFault = { path: string[]; message: string };

export type DataCheck = (data: unknown) => DataFault[];

const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });

/** Compiles a JSON Schema 2020-12; throws an Error when it is none. */
export function compileDataCheck(schema: Record<string, unknown>): DataCheck {
  const validate = ajv.compile(schema);
  return (data) => {
    if (validate(data)) return [];
    return (validate.errors ?? []).map((fault) => ({
      path: fault.instancePath.split("/").slice(1),
      message: fault.message ?? "does not satisfy the schema",
    }));
  };
}
