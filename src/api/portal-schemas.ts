/** Sessions that Postern gives out, as callers ask for them and see them. */
import * as z from "zod";
import {
  ALL_TENANTS,
  DEFAULT_SESSION_MINUTES,
  MAX_SESSION_MINUTES,
  PORTAL_ROLES,
  type PortalGrant,
} from "../portal/portal-session.ts";
import type { OwnToken } from "../portal/portal-sessions.ts";
import { parseTenantId } from "../shared/id.ts";
import { plainText } from "./delivery-query.ts";
import { sessionAnswer, sessionExample } from "./session-schemas.ts";

const instant = z.iso.datetime();
const MAX_SUBJECT = 256;
const MAX_PATH = 1024;
/** Below the portal's base: no segment begins with a dot, none is empty, and nothing ends the query. */
const PATH =
  /^(?:(?:(?:\/[A-Za-z0-9][A-Za-z0-9._~-]*)+\/?|\/)(?:\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?)?$/;

const NOT_WITH_ALL = "can't be with *: an operator's session opens tenants as their owner";

export const subjectText = plainText(MAX_SUBJECT).describe(
  "Who it is, as the audit log will name him: an id of your own.",
);

export const codeInput = z
  .strictObject({
    tenant_id: z
      .string()
      .regex(/^(?:\*|[A-Za-z0-9_-]{1,64})$/, "must be a tenant's id, or *")
      .describe(
        "Whose data the session shows. `*`: an operator's session, which reads the list of tenants, opens tenants for its own `sub`, and nothing else; " +
          "asked for with `tid` `*` and `tenants:read`, and without `role`.",
      ),
    sub: subjectText,
    role: z.enum(PORTAL_ROLES).optional().describe("Required, except with `*`."),
    path: z
      .string()
      .max(MAX_PATH)
      .regex(PATH, "must be a path such as /endpoints or /log?status=failed")
      .default("")
      .describe(
        "Which page of the portal opens, with the query that its address has there: `/log?status=failed`, or `/log?d=` and a delivery's id.",
      ),
    minutes: z
      .int()
      .min(1)
      .max(MAX_SESSION_MINUTES)
      .default(DEFAULT_SESSION_MINUTES)
      .describe("How long the session lasts, from the moment when the code is used."),
    read_only: z
      .boolean()
      .default(false)
      .describe("True: `settings:read` alone, whatever the role. Not with `*`."),
  })
  .refine(({ tenant_id, role }) => tenant_id === ALL_TENANTS || role !== undefined, {
    path: ["role"],
    message: "is required, except with *",
  })
  .refine(({ tenant_id, role }) => tenant_id !== ALL_TENANTS || role === undefined, {
    path: ["role"],
    message: NOT_WITH_ALL,
  })
  .refine(({ tenant_id, read_only }) => tenant_id !== ALL_TENANTS || !read_only, {
    path: ["read_only"],
    message: NOT_WITH_ALL,
  });

/** Null where the tenant is no id: its schema has judged that. */
export function grantOf(input: z.output<typeof codeInput>): PortalGrant | null {
  const { sub: subject, role } = input;
  const tenantId = parseTenantId(input.tenant_id);
  if (tenantId !== null && role !== undefined)
    return { tenantId, subject, role, isReadOnly: input.read_only };
  return input.tenant_id === ALL_TENANTS
    ? { tenantId: ALL_TENANTS, subject, role: null, isReadOnly: true }
    : null;
}

export const codeAnswer = z
  .object({
    url: z
      .url()
      .describe("Where to send the person's browser. The code is in the fragment, which no server sees."),
    expires_at: instant.describe("When the code is no good any more: after 60 seconds."),
  })
  .meta({
    examples: [
      {
        url: "https://hooks.example.com/portal/endpoints#code=ZkGm5cVwOe2n8bT0f1yQpLx3uJ7sRdH4aNvK6iWzE9o",
        expires_at: "2026-01-31T10:01:00.000Z",
      },
    ],
  });

export const openInput = z
  .strictObject({ code: z.string().max(256).describe("From the fragment of the URL.") })
  .meta({ examples: [{ code: "ZkGm5cVwOe2n8bT0f1yQpLx3uJ7sRdH4aNvK6iWzE9o" }] });

export const tokenObject = z
  .object({
    token: z.string().describe("To be sent as `Authorization: Bearer …`."),
    expires_at: instant.describe("When the token expires: after 15 minutes, or with the session."),
    ends_at: instant.describe("When the session ends. Until then the token can be renewed."),
  })
  .meta({ id: "OwnToken" });

export const portalTokenObject = tokenObject
  .extend({
    session: sessionAnswer
      .nullable()
      .describe("As `GET /api/session` answers; null for an operator's session, which is of no tenant."),
  })
  .meta({ id: "PortalToken" });

export const tokenExample: z.infer<typeof tokenObject> = {
  token: "eyJhbGciOiJIUzI1NiJ9.eyJ0eXBlIjoidXNlciJ9.gw2Xo1Q0mZ8dPpNfWcYbRk5tVh3sJl7uAe9iTqBxCzD",
  expires_at: "2026-01-31T10:15:00.000Z",
  ends_at: "2026-01-31T11:00:00.000Z",
};

export const portalTokenExample: z.infer<typeof portalTokenObject> = {
  ...tokenExample,
  session: sessionExample,
};

export function tokenView({ token, expiresAt, endsAt }: OwnToken): z.infer<typeof tokenObject> {
  return { token, expires_at: expiresAt.toISOString(), ends_at: endsAt.toISOString() };
}
