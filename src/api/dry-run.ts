/**
 * A caller who asks for a dry run of a change must not get the change. Parameters that a
 * route does not know are ignored, so this one is refused wherever a route does not take it.
 */
import type { FastifyRequest } from "fastify";
import { Refusal } from "../shared/refusal.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** On routes that take `dry_run`: where. */
    dryRun?: "query" | "body";
  }
}

const NAMES = ["dry_run", "dryRun", "dry-run", "dryrun"];

/** A preHandler hook: behind the checks of the session, and of the body's size. */
export function refuseUnknownDryRun(request: FastifyRequest, _reply: unknown, done: () => void): void {
  if (changesNothing(request.method) || request.is404) return done();
  const { dryRun } = request.routeOptions.config;
  if (dryRun !== "query") refuseIn("invalid_query", request.query, dryRun);
  if (dryRun !== "body") refuseIn("validation_failed", request.body, dryRun);
  done();
}

/** Of no dry run, therefore. */
export function changesNothing(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

function refuseIn(
  code: "invalid_query" | "validation_failed",
  given: unknown,
  dryRun: "query" | "body" | undefined,
): void {
  for (const [index, object] of [given].flat().entries()) {
    if (typeof object !== "object" || object === null) continue;
    const name = NAMES.find((known) => Object.hasOwn(object, known));
    if (name === undefined) continue;
    const path = Array.isArray(given) ? [index, name] : [name];
    throw new Refusal(code, { issues: [{ path, message: rightPlace(dryRun), code: "unrecognized_keys" }] });
  }
}

function rightPlace(dryRun: "query" | "body" | undefined): string {
  if (dryRun === "query") return "dry_run is a query parameter";
  return dryRun === "body"
    ? "dry_run is a member of the body"
    : "this route has no dry run: nothing was done";
}
