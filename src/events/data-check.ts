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
        path: fault.instancePath.split("/").slice(1),
        message: fault.message ?? "does not satisfy the schema",
      }));
    };
  };
}
