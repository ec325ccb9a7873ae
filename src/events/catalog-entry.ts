import * as z from "zod";
import { isEventTypeName, MAX_VERSION } from "./subscription.ts";

const exampleObject = z.record(z.string(), z.unknown());

const instant = z.iso.datetime({ offset: true });

const entryObject = z.object({
  type: z
    .string()
    .max(255)
    .refine(isEventTypeName, "must be dotted segments of letters, digits and underscores"),
  version: z
    .int()
    .min(1)
    .max(MAX_VERSION)
    .default(1)
    .describe("Each version of a type is an entry of its own. The newest that is no preview is the type's."),
  preview: z
    .boolean()
    .default(false)
    .describe("Only endpoints that name this version get it, and it may be left out of a published event."),
  title: z.string().max(200),
  description: z.string().max(2000),
  group: z.string().max(100),
  payloadShape: exampleObject.describe("Example of the event's data; a test dispatch sends it."),
  schema: exampleObject.optional().describe("JSON Schema 2020-12 that published data must satisfy."),
  deprecated: z.boolean().default(false),
  deprecated_since: instant.optional().describe("ISO 8601 with offset."),
  sunset: instant.optional().describe("When a deprecated version ends, ISO 8601 with offset."),
});

export const catalogEntrySchema = entryObject
  .refine(
    ({ deprecated, deprecated_since: since, sunset }) => deprecated || (since ?? sunset) === undefined,
    "deprecated_since and sunset are for what is deprecated",
  )
  .refine(
    ({ deprecated_since: since, sunset }) => sunset === undefined || since !== undefined,
    "a sunset needs deprecated_since",
  );

/** As callers see it. */
export const catalogEntryMembers = entryObject.extend({
  schema: exampleObject
    .optional()
    .describe(
      "JSON Schema 2020-12 that published data must satisfy; of a type of Postern's own, what Postern publishes.",
    ),
  version: z.int().min(1).max(MAX_VERSION),
  preview: z.boolean(),
  deprecated: z.boolean(),
});

export type CatalogEntry = z.infer<typeof catalogEntrySchema>;
