/** Parsing what callers send: bodies whatever their Content-Type, then by schema. */
import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import { Refusal, type Issue, type RefusalCode } from "../shared/refusal.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads every body as JSON; one that is absent or not parsable becomes null, for the route's schema to judge. */
export function acceptLenientJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // What a caller calls its body does not count, not even when that is no media type.
  app.addHook("preParsing", async (request) => {
    delete request.raw.headers["content-type"];
  });
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(null, Buffer.isBuffer(body) ? parseJsonOrNull(body) : null);
  });
}

function parseJsonOrNull(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return null;
  }
}

/** The value as the schema reads it; otherwise a refusal with one issue for each fault. */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  code: Extract<RefusalCode, "validation_failed" | "invalid_query"> = "validation_failed",
): z.output<Schema> {
  // An absent body reaches the handler as undefined.
  const parsed = schema.safeParse(value ?? null);
  if (parsed.success) return parsed.data;
  throw new Refusal(code, { issues: parsed.error.issues.map(toIssue) });
}

function toIssue(issue: z.core.$ZodIssue): Issue {
  const path = issue.path.map((part) => (typeof part === "number" ? part : String(part)));
  return { path, message: issue.message, code: issue.code };
}
