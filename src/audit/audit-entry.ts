/** What the audit log holds: who did what to which endpoint, and what was refused. */
import type { AuditId, EndpointId, TenantId } from "../shared/id.ts";

export const AUDIT_ACTIONS = [
  "endpoint.created",
  "endpoint.updated",
  "endpoint.enabled",
  "endpoint.disabled",
  "endpoint.deleted",
  "secret.rotated",
  "endpoint.tested",
  "delivery.retried",
  "event.sent",
  "replay.requested",
  "replay.canceled",
  "portal.granted",
  "tenant.token_granted",
  "tenant.erased",
  "url.refused",
  "authentication.failed",
  "limit.reached",
  "access.refused",
  "keys.rotation_started",
  "keys.rotated",
  "keys.forgotten",
  "export.requested",
  "artifact.download_granted",
  "artifact.erased",
  "artifact.hold_set",
  "artifact.hold_ended",
  "storage_settings.updated",
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const ACTOR_TYPES = ["user", "operator", "postern", "unknown"] as const;

/** `user` with the session's subject; `operator` at the command line, or by a backend that names its subject; `postern` by itself; `unknown` without a session, and for a backend's. */
export type AuditActor = { type: (typeof ACTOR_TYPES)[number]; sub: string | null };

export const AUDIT_OUTCOMES = ["done", "refused"] as const;

/** A tenant's user, as the audit log names him. */
export type Caller = {
  tenantId: TenantId;
  actor: AuditActor;
  requestId: string | null;
  address: string | null;
};

/** Never a secret, nor a value of a header: names of what changed, and URLs by `maskUrl`. */
export type AuditDetails = { readonly [name: string]: DetailValue };
type DetailValue = string | number | boolean | null | readonly string[] | AuditDetails;

/** The same where what is done may be no single tenant's. */
export type Doer = Omit<Caller, "tenantId"> & { tenantId: TenantId | null };

export type NewAuditEntry = Doer & {
  action: AuditAction;
  endpointId: EndpointId | null;
  outcome: (typeof AUDIT_OUTCOMES)[number];
  details: AuditDetails;
};

export type AuditEntry = NewAuditEntry & { id: AuditId; at: Date };

/** Absent members do not narrow. `from` is inclusive, `to` exclusive. */
export type AuditFilter = {
  action?: AuditAction | undefined;
  endpointId?: EndpointId | undefined;
  fromMs?: number | undefined;
  toMs?: number | undefined;
  /** Only entries older than this one. */
  before?: AuditId | undefined;
};

export const POSTERN: AuditActor = { type: "postern", sub: null };
export const OPERATOR: AuditActor = { type: "operator", sub: null };
/** Of what Postern does by itself, or the operator at the command line. */
export const NO_REQUEST = { requestId: null, address: null };
export const UNKNOWN: AuditActor = { type: "unknown", sub: null };
