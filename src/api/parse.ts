/** Parsing what callers send: bodies whatever their Content-Type, then by schema. */
import type { FastifyInstance } from "fastify";
import * as z from "zod";
import { Refusal, type Issue, type RefusalCode } from "../shared/refusal.ts";
import { mayAlterNumbers, parseWithDigits } from "../shared/exact-numbers.ts";
import { knowNames, slipOf, type KnownNames } from "./slips.ts";

/** As many as an answer names. */
const MAX_SLIPS = 100;

/** Of a body that is `null` too: it has none of what the schema asks for. */
const NO_JSON = "the body is missing, or is not JSON";

/** A body that is not JSON. No absent one: what its sender asked for is unknown, even where a body may be left out. */
const UNREADABLE = Symbol("not JSON");

/** What is not JSON because it is coded: decoding could make a thousand bytes of each. */
const CODED = Symbol("coded");

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads every body as JSON; one that is absent becomes null, for the route's schema to judge. */
export function acceptLenientJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // What a caller calls its body does not count, not even when that is no media type.
  app.addHook("preParsing", async (request) => {
    delete request.raw.headers["content-type"];
  });
  app.addContentTypeParser("*", { parseAs: "buffer" }, (request, body, done) => {
    const value = Buffer.isBuffer(body) && body.length > 0 ? parseJson(body) : null;
    done(null, value === UNREADABLE && isCoded(request.headers["content-encoding"]) ? CODED : value);
  });
}

function isCoded(coding = ""): boolean {
  return !["", "identity"].includes(coding.trim().toLowerCase());
}

function parseJson(body: Buffer): unknown {
  try {
    const text = utf8.decode(body);
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && mayAlterNumbers(text))
      textsWithDigits.set(value, text);
    return value;
  } catch {
    return UNREADABLE;
  }
}

/** The texts of bodies that may hold numbers which parsing altered. */
const textsWithDigits = new WeakMap<object, string>();

/** The body with such numbers as they stand in its text; null where it has none. */
export function withDigits(body: unknown): unknown {
  const text = typeof body === "object" && body !== null ? textsWithDigits.get(body) : undefined;
  if (text === undefined) return null;
  const exact = parseWithDigits(text);
  if (exact !== null) return exact;
  const issue = { path: [], message: "too_deep", code: "too_deep" };
  throw new Refusal("validation_failed", { issues: [issue] });
}

/** What a route takes: the slips of its members are found among the schema's own names. */
type Reading = {
  code: Extract<RefusalCode, "validation_failed" | "invalid_query">;
  /** The object that the route stores and answers: sent back as it was read, no member of it is a slip. */
  answered?: z.ZodObject;
};

/** The body as the schema reads it; otherwise a refusal with one issue for each fault. */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
  answered?: z.ZodObject,
): z.output<Schema> {
  return read(schema, body, { code: "validation_failed", ...(answered && { answered }) });
}

/** The same of a query. */
export function parseQuery<Schema extends z.ZodType>(schema: Schema, query: unknown): z.output<Schema> {
  return read(schema, query, { code: "invalid_query" });
}

function read<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { code, answered }: Reading,
): z.output<Schema> {
  if (value === UNREADABLE) throw noJson(code);
  if (value === CODED) throw new Refusal("unsupported_encoding");
  // An absent body reaches the handler as undefined.
  const given = value ?? null;
  const parsed = schema.safeParse(given);
  const members = membersOf(schema);
  // A strict schema has refused every unknown member by itself.
  if (parsed.success && members?.isStrict === true) return parsed.data;
  const slips = members === null ? [] : slipsIn(given, members, answered);
  if (parsed.success && slips.length === 0) return parsed.data;
  if (given === null && code === "validation_failed") throw noJson(code);
  const faults = parsed.error?.issues.flatMap((issue) => toIssue(issue, slips) ?? []) ?? [];
  throw new Refusal(code, { issues: [...slips, ...faults] });
}

function noJson(code: RefusalCode): Refusal {
  return new Refusal(code, { issues: [{ path: [], message: NO_JSON, code: "invalid_type" }] });
}

type Members = { known: KnownNames; isStrict: boolean };

const membersOfSchemas = new WeakMap<z.core.$ZodType, Members | null>();

/** The members of the object, or of each object of the array, that a schema reads; null where it reads neither. */
function membersOf(schema: z.core.$ZodType): Members | null {
  let found = membersOfSchemas.get(schema);
  if (found === undefined) {
    found = findMembers(schema);
    membersOfSchemas.set(schema, found);
  }
  return found;
}

function findMembers(schema: z.core.$ZodType): Members | null {
  if (schema instanceof z.ZodArray) return membersOf(schema.element);
  if (schema instanceof z.ZodNullable) return membersOf(schema.unwrap());
  if (!(schema instanceof z.ZodObject)) return null;
  const isStrict = schema.def.catchall instanceof z.ZodNever;
  return { known: knowNames(Object.keys(schema.shape)), isStrict };
}

/** The first of them: a body of 1 MiB can have a hundred thousand. */
function slipsIn(given: unknown, { known }: Members, answered?: z.ZodObject): Issue[] {
  const isMany = Array.isArray(given);
  const objects: unknown[] = isMany ? given : [given];
  const slips: Issue[] = [];
  for (const [index, object] of objects.entries()) {
    if (typeof object !== "object" || object === null) continue;
    for (const name of Object.keys(object)) {
      if (known.names.includes(name)) continue;
      if (answered !== undefined && Object.hasOwn(answered.shape, name)) continue;
      const meant = slipOf(name, known);
      if (meant === null) continue;
      const path = isMany ? [index, name] : [name];
      slips.push({ path, message: `did you mean "${meant}"?`, code: "did_you_mean" });
      if (slips.length === MAX_SLIPS) return slips;
    }
  }
  return slips;
}

/** Null for members that are refused as slips already. */
function toIssue(issue: z.core.$ZodIssue, slips: readonly Issue[]): Issue | null {
  const path = issue.path.map((part) => (typeof part === "number" ? part : String(part)));
  if (issue.code === "unrecognized_keys") {
    const isTold = (key: string) => slips.some((slip) => isSamePath(slip.path, [...path, key]));
    if (issue.keys.length <= slips.length && issue.keys.every(isTold)) return null;
  }
  return { path, message: issue.message, code: issue.code };
}

function isSamePath(left: Issue["path"], right: Issue["path"]): boolean {
  return left.length === right.length && left.every((part, index) => part === right[index]);
}
