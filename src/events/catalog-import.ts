/**
 * Event types from the `webhooks` of an OpenAPI 3.1 document. The schema of a
 * webhook's JSON body becomes that of the event's data, with what it refers to
 * brought along as `$defs`.
 */
import * as z from "zod";
import { ConfigError } from "../shared/config-error.ts";
import { catalogEntrySchema } from "./catalog-entry.ts";
import type { LinedFile } from "./catalog-file.ts";
import { makeDataCheckCompiler } from "./data-check.ts";
import { parseVersionedType, versionedType } from "./subscription.ts";
import { bundleSchema, resolveReference } from "./schema-references.ts";
import { messageOf } from "../shared/message-of.ts";

const object = z.record(z.string(), z.unknown());
const openApiDocument = z.object({ webhooks: object });
const operationShape = z.object({
  summary: z.string().optional(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  deprecated: z.boolean().optional(),
  requestBody: object,
});
const bodyShape = z.object({ content: object });
const mediaShape = z.object({
  schema: object.optional(),
  example: object.optional(),
  examples: object.optional(),
});

type Imported = {
  /** Without what a catalog file need not say. */
  entries: z.input<typeof catalogEntrySchema>[];
  /** What is left to do by hand, one line each. */
  notes: string[];
};

/** Throws ConfigError with file, line and fault of each webhook that is no event type. */
export function importWebhooks({ value, placeOf }: LinedFile): Imported {
  const document = openApiDocument.safeParse(value);
  if (!document.success) throw new ConfigError(`${placeOf([])}: the document has no webhooks`);
  const faults: string[] = [];
  const imported: Imported = { entries: [], notes: [] };
  const names = new Map<string, string>();
  for (const [name, item] of Object.entries(document.data.webhooks)) {
    const place = placeOf(["webhooks", name]);
    try {
      const { entry, hasExample } = readWebhook(name, item, value);
      const { type, version = 1 } = entry;
      const other = names.get(versionedType(type, version));
      if (other !== undefined) {
        faults.push(
          `${place}: ${name} is version ${version} of ${type}, as is ${other}: remove one, or give it another version`,
        );
        continue;
      }
      names.set(versionedType(type, version), name);
      imported.entries.push(entry);
      if (!hasExample) imported.notes.push(`${place}: ${name} has no example: write its payloadShape`);
    } catch (error) {
      faults.push(`${place}: ${name}: ${faultTextOf(error)}`);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  return imported;
}

/** The name may have a version, as `invoice.paid@2`. */
function readWebhook(name: string, pathItem: unknown, document: unknown) {
  const { type, version } = parseVersionedType(name) ?? { type: name, version: null };
  const resolve = (node: unknown): unknown => resolveReference(document, node);
  const { post } = z.object({ post: z.unknown() }).parse(resolve(pathItem));
  const { summary = name, description = "", tags, deprecated, requestBody } = operationShape.parse(post);
  const { content } = bodyShape.parse(resolve(requestBody));
  const media = mediaShape.parse(content["application/json"]);
  const schema = media.schema === undefined ? undefined : bundleSchema(document, media.schema);
  const example = exampleOf(media, schema, resolve);
  const {
    deprecated: isDeprecated,
    preview: _,
    version: number,
    ...entry
  } = catalogEntrySchema.parse({
    type,
    version: version ?? 1,
    title: summary,
    description,
    group: tags?.[0] ?? "Events",
    payloadShape: example ?? {},
    ...(schema === undefined ? {} : { schema }),
    deprecated,
  });
  if (schema !== undefined) makeDataCheckCompiler()(schema);
  return {
    entry: {
      ...entry,
      ...(number > 1 ? { version: number } : {}),
      ...(isDeprecated ? { deprecated: true } : {}),
    },
    hasExample: example !== undefined,
  };
}

/** The media type's own example, its first named one, or that of the schema. */
function exampleOf(
  { example, examples = {} }: z.infer<typeof mediaShape>,
  schema: Record<string, unknown> | undefined,
  resolve: (node: unknown) => unknown,
): Record<string, unknown> | undefined {
  const named = Object.values(examples).map((one) => object.safeParse(resolve(one)).data?.["value"]);
  const referred = object.safeParse(resolveReference(schema, schema)).data;
  const all = [example, ...named, ...examplesIn(schema), ...examplesIn(referred)];
  return all.map((one) => object.safeParse(one).data).find((one) => one !== undefined);
}

function examplesIn(schema: Record<string, unknown> = {}): unknown[] {
  const { example, examples } = schema;
  return [example, ...(Array.isArray(examples) ? examples : [])];
}

function faultTextOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    return error.issues.map(({ path, message }) => `${path.join(".")} ${message}`.trim()).join("; ");
  }
  return messageOf(error);
}
