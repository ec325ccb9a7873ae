import * as z from "zod";
import type { LiveCatalog } from "../events/live-catalog.ts";
import { isPattern, SUBSCRIPTION_PATTERN, typesWithTwoVersions } from "../events/subscription.ts";
import { ENDPOINT_MODES } from "./endpoint.ts";
import {
  HEADER_NAME_PATTERN,
  HEADER_VALUE_PATTERN,
  MAX_NAME_LENGTH,
  refuseStaticHeader,
} from "../outbound/request-headers.ts";
import { SECRET_PATTERN, secretFault } from "../outbound/signature.ts";

export const MAX_PATTERNS = 200;
export const MAX_STATIC_HEADERS = 20;
export const MAX_METADATA_BYTES = 4096;
export const MAX_GRACE_SECONDS = 604_800;

const PROTOTYPE = "__proto__";

/** Text that PostgreSQL can store and UTF-8 can say. */
const text = z
  .string()
  .refine((value) => !value.includes("\u0000"), "must not contain NUL")
  .refine((value) => value.isWellFormed(), "must be well-formed Unicode")
  .meta({ pattern: "^[^\\u0000]*$" });

const headerName = z.string().meta({ pattern: HEADER_NAME_PATTERN, maxLength: MAX_NAME_LENGTH });

/** A signing secret that a tenant brings along, so that receivers need no change. */
const ownSecret = z
  .string()
  .superRefine((secret, context) => {
    const fault = secretFault(secret);
    if (fault !== null) context.addIssue({ code: "custom", message: fault });
  })
  .meta({ pattern: SECRET_PATTERN, writeOnly: true })
  .nullish()
  .describe(
    "An own signing secret: `whsec_` and the base64 of 24 to 64 bytes, or 16 to 128 printable ASCII characters, whose UTF-8 is then the key of both signatures. Absent or null: one is made.",
  );

const url = z
  .string()
  .describe("A public HTTPS URL.")
  .meta({ examples: ["https://hooks.example.com/postern"] });

const mode = z
  .enum(ENDPOINT_MODES)
  .describe(
    "`push`: Postern sends the events to `url`. `pull`: they wait until a client fetches them with `POST /api/webhooks/{id}/leases`; `url` is where they go once it is `push` again.",
  );

const temporary = z
  .boolean()
  .optional()
  .describe("True: deleted after an hour without a call of its client. It must be `pull`, and stays so.");

const metadata = withoutPrototype(
  z
    .record(text, text)
    .refine(
      (metadata) => Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES,
      `must be at most ${MAX_METADATA_BYTES} bytes as JSON`,
    )
    .describe("Strings of the tenant's own. Postern stores them and does nothing else with them."),
);

/** The schemas of create and update; which event patterns are valid is the catalog's to say. */
export function endpointInputSchemas(catalog: LiveCatalog) {
  const pattern = z
    .string()
    .max(259)
    .superRefine((value, context) => {
      if (!isPattern(value) || !catalog.current().knowsPattern(value)) {
        context.addIssue({ code: "custom", message: "unknown_event_type" });
      }
    })
    .meta({ pattern: SUBSCRIPTION_PATTERN, examples: ["invoice.*"] });

  const fields = {
    events: z
      .array(pattern)
      .min(1)
      .max(MAX_PATTERNS)
      .refine((patterns) => new Set(patterns).size === patterns.length, "must be unique")
      .refine((patterns) => typesWithTwoVersions(patterns).length === 0, "must name one version of a type")
      .meta({ uniqueItems: true })
      .describe(
        "Event types, prefixes such as `invoice.*`, or `*` for all: of each type its newest version that is no preview. `invoice.paid@2` is that version, and stays it, beside the others too.",
      ),
    description: text.max(500).nullable(),
    enabled: z.boolean().describe("False holds pending attempts and accepts no new events."),
    mode,
    rate_limit: z.int().min(1).max(1000).nullable().describe("Attempts per second, over all workers."),
    headers: withoutPrototype(
      z
        .record(headerName, z.string().max(1024).meta({ pattern: HEADER_VALUE_PATTERN }))
        .superRefine(refuseHeaders)
        .describe(
          `At most ${MAX_STATIC_HEADERS} static headers of every request to this endpoint. A masked one that is sent back as \`[masked]\` keeps its value.`,
        )
        .meta({ maxProperties: MAX_STATIC_HEADERS }),
    ),
    masked_headers: z
      .array(headerName)
      .max(MAX_STATIC_HEADERS)
      .superRefine(refuseNames)
      .describe(
        "Names of static headers whose values are encrypted at rest and never shown; `authorization` is always one.",
      ),
    metadata,
  };
  const optional = z.object(fields).partial();
  return {
    create: optional
      .extend({ url, secret: ownSecret, temporary })
      .refine((input) => input.temporary !== true || input.mode === "pull", {
        path: ["mode"],
        message: "must be pull for a temporary endpoint",
      }),
    update: optional.extend({ url: url.optional() }),
  };
}

/** The optional body of rotate-secret. */
export const rotateInputSchema = z
  .object({
    grace_seconds: z
      .int()
      .min(0)
      .max(MAX_GRACE_SECONDS)
      .default(0)
      .describe(
        "Grace period in seconds: meanwhile `webhook-signature` carries a signature of the old secret too.",
      ),
    secret: ownSecret,
  })
  .nullable();

/** A record is read into a copy that lacks a member of this name, and nobody would be told. */
function withoutPrototype<Schema extends z.ZodType>(record: Schema) {
  return z.preprocess((value, context) => {
    if (typeof value === "object" && value !== null && Object.hasOwn(value, PROTOTYPE))
      context.addIssue({ code: "custom", path: [PROTOTYPE], message: "reserved_name" });
    return value;
  }, record);
}

function refuseHeaders(headers: Record<string, string>, context: z.RefinementCtx): void {
  const given = Object.entries(headers);
  if (given.length > MAX_STATIC_HEADERS) {
    context.addIssue({ code: "custom", message: `must be at most ${MAX_STATIC_HEADERS} headers` });
  }
  refuseEach(
    given.map(([name, value]) => [name, value, name]),
    context,
  );
}

function refuseNames(names: readonly string[], context: z.RefinementCtx): void {
  refuseEach(
    names.map((name, index) => [name, "", index]),
    context,
  );
}

function refuseEach(
  headers: readonly (readonly [name: string, value: string, at: string | number])[],
  context: z.RefinementCtx,
): void {
  const seen = new Set<string>();
  for (const [name, value, at] of headers) {
    const reason = refuseStaticHeader(name, value);
    if (reason !== null) context.addIssue({ code: "custom", path: [at], message: reason });
    if (seen.has(name.toLowerCase())) {
      context.addIssue({ code: "custom", path: [at], message: "is given twice, in different case" });
    }
    seen.add(name.toLowerCase());
  }
}
