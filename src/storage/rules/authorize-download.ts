/** May this session download this artifact now? */
import * as z from "zod";
import type { DatabasePort } from "./ports.ts";
import { isPastDeadline } from "./instants.ts";
import type { OperationResult } from "./mutations.ts";
import { tenantOfKey } from "./object-key.ts";
import type { ObjectState, StoredObject } from "./stored-object.ts";
import { areUnique, instant, uuid } from "./values.ts";

export const caller = z.strictObject({
  session_type: z.enum(["user", "service", "system"]),
  user_id: uuid,
  tenant_id: uuid.nullable(),
  permissions: z
    .array(z.string().regex(/^[a-z][a-z0-9_:-]{0,63}$/))
    .max(16)
    .refine(areUnique),
});

export const authorizeDownloadInput = z.strictObject({
  caller,
  object_id: uuid,
  delivery_id: uuid,
  now: instant,
});
export type AuthorizeDownloadInput = z.infer<typeof authorizeDownloadInput>;

/** `reason` is for the audit log; the client learns only the code and status. */
export type AuthorizeDownloadOutput =
  | { code: "ALLOW"; reason: null; http_status: 200 }
  | { code: "UNAUTHENTICATED"; reason: null; http_status: 401 }
  | { code: "FORBIDDEN"; reason: null; http_status: 403 }
  | { code: "NOT_FOUND"; reason: "ABSENT" | "OWNERSHIP"; http_status: 404 }
  | { code: "NOT_AVAILABLE"; reason: null; http_status: 409 }
  | { code: "GONE"; reason: "DEADLINE" | null; http_status: 410 };

type Denial = Exclude<AuthorizeDownloadOutput, { code: "ALLOW" }>;

/** The row travels with the permission, so that who signs a link needs no second lookup. */
export type DownloadDecision = { allowed: true; object: StoredObject } | { allowed: false; denial: Denial };

/** Decides a download; see {@link decideDownload}. Asks the database at most once. */
export async function authorizeDownload(
  input: AuthorizeDownloadInput,
  services: { database: DatabasePort },
): Promise<OperationResult<AuthorizeDownloadOutput>> {
  const decision = await decideDownload(input, services);
  const output = decision.allowed
    ? ({ code: "ALLOW", reason: null, http_status: 200 } as const)
    : decision.denial;
  return { output, mutations: [] };
}

/** As {@link authorizeDownload}, giving the row itself to a caller inside the service. */
export async function decideDownload(
  input: AuthorizeDownloadInput,
  services: { database: DatabasePort },
): Promise<DownloadDecision> {
  const { session_type, tenant_id, user_id, permissions } = input.caller;
  if (session_type !== "user" || tenant_id === null) {
    return deny({ code: "UNAUTHENTICATED", reason: null, http_status: 401 });
  }
  if (!permissions.includes("settings:read")) {
    return deny({ code: "FORBIDDEN", reason: null, http_status: 403 });
  }
  const { object_id, delivery_id } = input;
  const answer = await services.database.authorize({
    tenant_id,
    user_id,
    object_id,
    delivery_id,
    action: "download",
  });
  if (!answer.found) return deny({ code: "NOT_FOUND", reason: "ABSENT", http_status: 404 });
  const { object, delivery } = answer;
  // Three independent witnesses of the owner: a row moved to another tenant by
  // a faulty update still has a key that names the tenant it was made for.
  const owners = [object.tenant_id, delivery.tenant_id, tenantOfKey(object.key)];
  const isAsked =
    object.id === object_id && object.delivery_id === delivery_id && delivery.id === delivery_id;
  if (!isAsked || owners.some((owner) => owner !== tenant_id)) {
    return deny({ code: "NOT_FOUND", reason: "OWNERSHIP", http_status: 404 });
  }
  const denial = judgeLife(object, input.now);
  return denial === null ? { allowed: true, object } : deny(denial);
}

const NOT_AVAILABLE = { code: "NOT_AVAILABLE", reason: null, http_status: 409 } as const;
const GONE = { code: "GONE", reason: null, http_status: 410 } as const;

const DENIAL_OF_STATE: Readonly<Record<ObjectState, Denial | null>> = {
  pending: NOT_AVAILABLE,
  available: null,
  missing: NOT_AVAILABLE,
  quarantined: NOT_AVAILABLE,
  expired: GONE,
  purged: GONE,
};

function judgeLife(object: StoredObject, now: string): Denial | null {
  const denial = DENIAL_OF_STATE[object.state];
  if (denial !== null || object.deadline === null || object.hold) return denial;
  // The sweep may be late; the deadline is not.
  return isPastDeadline(object.deadline, now) ? { ...GONE, reason: "DEADLINE" } : null;
}

function deny(denial: Denial): DownloadDecision {
  return { allowed: false, denial };
}
