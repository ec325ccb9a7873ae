/** What a producer sends to publish events. */
import * as z from "zod";
import { parseTenantId } from "../shared/id.ts";
import { isObject } from "./data-issues.ts";
import { brokenTextRule } from "./event-data.ts";
import { EVENT_TYPE_PATTERN } from "./subscription.ts";

const MAX_EVENTS_PER_REQUEST = 1000;
const MAX_KEY_CHARACTERS = 128;

// Not z.record, which makes a copy, and one without a member named __proto__.
const eventData = z
  .custom<Record<string, unknown>>(isObject, "must be an object")
  .meta({ type: "object", additionalProperties: true });

const publishedEvent = z.strictObject({
  type: z.string().meta({ pattern: EVENT_TYPE_PATTERN }).describe("A type of the event catalog."),
  data: eventData
    .optional()
    .describe(
      "The event itself, as the type's newest version that is no preview. Needed unless `versions` has that one. A number is sent with its exact value, in up to 400 characters, or refused.",
    ),
  versions: z
    .record(z.string().regex(/^[1-9][0-9]{0,2}$/), eventData)
    .optional()
    .describe(
      'The same event as other versions of the type, by number: `{"1": {…}}`. Every version of the catalog is needed, but for previews.',
    ),
  tenant_id: z
    .string()
    .refine((id) => parseTenantId(id) !== null, "must be 1 to 64 of A-Z, a-z, 0-9, _ and -")
    .meta({ pattern: "^[A-Za-z0-9_-]{1,64}$" })
    .optional()
    .describe("The tenant; needed when the session's `tid` is `*`."),
  id: z
    .string()
    .min(1)
    .refine(isShortKey, `must have at most ${MAX_KEY_CHARACTERS} characters`)
    .refine((key) => brokenTextRule(key) === null, "must be well-formed text without NUL")
    .meta({ pattern: "^[^\\u0000]*$", maxLength: MAX_KEY_CHARACTERS })
    .optional()
    .describe("Idempotency key, unique per tenant for at least 24 hours."),
});

/** The body of a publish request is one event or an array of them. */
export const publishOneSchema = publishedEvent.meta({ id: "NewEvent" });
export const publishManySchema = z.array(publishOneSchema).min(1).max(MAX_EVENTS_PER_REQUEST);

export type PublishInput = z.infer<typeof publishedEvent> & {
  /** The same where a double does not hold a number: what is written in their place. */
  exact?: { data?: unknown; versions?: Readonly<Record<string, unknown>> | undefined } | undefined;
};

/** In characters as PostgreSQL counts them, and JSON Schema: one outside the basic plane is one. */
function isShortKey(key: string): boolean {
  return key.length <= 2 * MAX_KEY_CHARACTERS && Array.from(key).length <= MAX_KEY_CHARACTERS;
}

const exactEvents = z.array(
  z.object({ data: z.unknown().optional(), versions: z.record(z.string(), z.unknown()).optional() }),
);

/** Checked as doubles, sent with every digit. `exact` is the same body with such numbers as they were written. */
export function withExactData(
  input: PublishInput | PublishInput[],
  exact: unknown,
): PublishInput | PublishInput[] {
  const written = exactEvents.parse([exact].flat());
  const exactly = (event: PublishInput, index: number) => Object.assign(event, { exact: written[index] });
  return Array.isArray(input) ? input.map(exactly) : exactly(input, 0);
}
