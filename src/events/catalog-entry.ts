import { z } from "zod";
import { isEventTypeName } from "./subscription.ts";

const exampleObject = z.record(z.string(), z.unknown());

export const catalogEntrySchema = z.object({
  type: z
    .string()
    .max(255)
    .refine(isEventTypeName, "must be dotted segments of letters, digits and underscores"),
  title: z.string().max(200),
  description: z.string().max(2000),
  group: z.string().max(100),
  payloadShape: exampleObject.describe("Example of the event's data; a test dispatch sends it."),
  schema: exampleObject.optional().describe("JSON Schema 2020-12 that published data must satisfy."),
  deprecated: z.boolean().default(false),
});

export type CatalogEntry = z.infer<typeof catalogEntrySchema>;
