/** Queries of delivery lists: as callers write them, and the filters that they mean. */
import * as z from "zod";
import { DELIVERY_STATUSES, DELIVERY_TRIGGERS } from "../deliveries/delivery.ts";
import type { SearchFilter, TimeFilter } from "../deliveries/search-filter.ts";
import { EVENT_TYPE_PATTERN } from "../events/subscription.ts";
import { parseDeliveryId, parseEndpointId, parseEventId } from "../shared/id.ts";
import { idText, instantText, integerText } from "./page-query.ts";

const MAX_TEXT = 256;
const MAX_ENDPOINTS = 20;

/** Text that PostgreSQL can compare. */
export function plainText(maxLength: number) {
  return z
    .string()
    .min(1)
    .refine((text) => !text.includes("\u0000"), "must not contain NUL")
    .refine((text) => Array.from(text).length <= maxLength, `must have at most ${maxLength} characters`)
    .meta({ minLength: 1, maxLength, pattern: "^[^\\u0000]*$" });
}

const deliveryId = idText(parseDeliveryId, "a delivery id");

const RESPONSE_STATUS = "^(?:[1-9][0-9]{2}|[1-9]xx|none)$";

const responseStatus = z
  .string()
  .regex(new RegExp(RESPONSE_STATUS), "must be a status as 500, a class as 5xx, or none")
  .transform((text): NonNullable<SearchFilter["responseStatus"]> => {
    if (text === "none") return text;
    return { from: Number(text.replace("xx", "00")), to: Number(text.replace("xx", "99")) };
  });

const EXAMPLES = ["invoice.paid", "invoice.*"];

/** What a filter of a list by type takes. */
export const eventTypeText = plainText(MAX_TEXT).meta({ examples: EXAMPLES });

/**
 * The types of what is done once and for all that match, as a replay: a text that no
 * type can match, such as `*`, is refused. Its answer would be that there is nothing to do.
 */
export const chosenTypes = z
  .string()
  .max(MAX_TEXT)
  .regex(
    new RegExp(EVENT_TYPE_PATTERN.replace(/\$$/, "(?:\\.\\*)?$")),
    "must be an event type, or one with .* at its end",
  )
  .meta({ examples: EXAMPLES })
  .optional();

/** By what every list can be narrowed; an unusual one among these makes it a search. */
const filters = {
  status: z.enum(DELIVERY_STATUSES).optional(),
  from: instantText.optional().describe("Created at or after, ISO 8601 with offset."),
  to: instantText.optional().describe("Created before, ISO 8601 with offset."),
  event_type: eventTypeText
    .optional()
    .describe("A type, one version of it as `invoice.paid@2`, or a prefix such as `invoice.*`."),
  event_id: z.string().optional(),
  response_status: responseStatus
    .optional()
    .describe("A status, a class such as `5xx`, or `none`: failed without an answer."),
  error: plainText(MAX_TEXT)
    .optional()
    .describe("Why no answer came, for example `dns`, `tls` or `timeout`."),
  trigger: z.enum(DELIVERY_TRIGGERS).optional(),
  q: plainText(MAX_TEXT)
    .optional()
    .describe("Exact text in the request's or the answer's body, case-sensitive."),
  before: deliveryId.describe("A delivery id: only deliveries older than it."),
  after: deliveryId.describe("A delivery id: only deliveries newer than it."),
};

/** Of an endpoint's list. Unknown parameters are ignored, as the specification has it. */
export const endpointLogQuery = z.object({
  ...filters,
  page: integerText(1, Number.MAX_SAFE_INTEGER, 1).describe(
    "Prefer `before`, which costs the same on every page.",
  ),
  limit: integerText(1, 100, 50),
});

/** Of a tenant's list. */
export const tenantLogQuery = z.strictObject({
  ...filters,
  endpoint_id: z
    .union([z.string(), z.array(z.string()).max(MAX_ENDPOINTS)])
    .optional()
    .describe(`Only these endpoints: repeat the parameter up to ${MAX_ENDPOINTS} times.`),
  limit: integerText(1, 100, 50),
  include: z.literal("bodies").optional().describe("`bodies`: with `request_body` and `response_body`."),
});

type Filters = Omit<z.output<typeof endpointLogQuery>, "page" | "limit">;

export function timesOf({ from, to, before, after }: Filters): TimeFilter {
  return { fromMs: from, toMs: to, before, after };
}

/**
 * Whether an endpoint's list is asked for by more than the log is ordered by:
 * no index has what was delivered, so between two such rows may lie any number of failures.
 */
export function isSearch(query: z.output<typeof endpointLogQuery>): boolean {
  const { event_type, event_id, response_status, error, trigger, q } = query;
  if (query.status === "delivered" && query.page === 1) return true;
  return [event_type, event_id, response_status, error, trigger, q].some((given) => given !== undefined);
}

/** Null if nothing can match, because an id does not exist. */
export function searchFilter(
  query: Filters,
  endpointIds: string | readonly string[] | undefined,
): SearchFilter | null {
  const eventId = query.event_id === undefined ? undefined : parseEventId(query.event_id);
  const known = endpointIds === undefined ? undefined : [endpointIds].flat().map(parseEndpointId);
  const endpoints = known?.filter((id) => id !== null);
  if (eventId === null || endpoints?.length === 0) return null;
  return {
    endpointIds: endpoints === undefined ? undefined : [...new Set(endpoints)],
    status: query.status,
    eventType: query.event_type,
    eventId,
    responseStatus: query.response_status,
    error: query.error,
    trigger: query.trigger,
    text: query.q,
    times: timesOf(query),
  };
}
