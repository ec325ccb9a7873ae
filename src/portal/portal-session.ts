/** The permissions and the subject of a session that Postern itself issues. */
import type { PortalSessionId, TenantId } from "../shared/id.ts";

export const PORTAL_ROLES = ["owner", "admin", "member"] as const;
export type PortalRole = (typeof PORTAL_ROLES)[number];

/** In place of a tenant: the operator, who reads the list of tenants. */
export const ALL_TENANTS = "*";

export type PortalGrant = {
  subject: string;
} & (
  | { tenantId: TenantId; role: PortalRole; isReadOnly: boolean }
  | { tenantId: typeof ALL_TENANTS; role: null; isReadOnly: true }
);

/** One that a token names; without a tenant it is for all. */
export type NamedSession = { id: PortalSessionId; tenantId: TenantId | null };

/** `until`: when it ends for good. */
export type PortalSession = { id: PortalSessionId; grant: PortalGrant; until: Date };

/** Until a code must have been used. */
export const CODE_S = 60;
/** How long a token is good; a session that lasts longer renews it. */
export const TOKEN_MINUTES = 15;
export const MAX_SESSION_MINUTES = 24 * 60;
export const DEFAULT_SESSION_MINUTES = 60;
