import type { EndpointId, TenantId } from "../shared/id.ts";
import type { KeptBodies } from "../storage/artifacts/kept-bodies.ts";

export type DisabledReason = "manual" | "gone" | "failing";

export const ENDPOINT_MODES = ["push", "pull"] as const;
/** Whether Postern sends its events, or a client fetches them. */
export type EndpointMode = (typeof ENDPOINT_MODES)[number];

/** A tenant's endpoint as the API shows it; its secret is no part of it. */
export type Endpoint = {
  tenantId: TenantId;
  id: EndpointId;
  url: string;
  events: string[];
  description: string | null;
  enabled: boolean;
  disabledReason: DisabledReason | null;
  mode: EndpointMode;
  /** Deleted by Postern when no client calls for an hour. */
  temporary: boolean;
  /** Deliveries a second, or null for no limit of its own. */
  rateLimit: number | null;
  /** Masked ones without their values. */
  headers: Record<string, string>;
  maskedHeaders: string[];
  metadata: Record<string, string>;
  createdAt: Date;
  updatedAt: Date;
};

/** What a caller may set; on an update an absent member stays as it is. */
export type EndpointChange = {
  url?: string | undefined;
  events?: string[] | undefined;
  description?: string | null | undefined;
  enabled?: boolean | undefined;
  mode?: EndpointMode | undefined;
  rate_limit?: number | null | undefined;
  headers?: Record<string, string> | undefined;
  masked_headers?: string[] | undefined;
  metadata?: Record<string, string> | undefined;
};

/** What is needed to send to an endpoint: its secrets stay encrypted until then. */
export type EndpointTarget = {
  tenantId: TenantId;
  endpointId: EndpointId;
  url: string;
  events: string[];
  enabled: boolean;
  mode: EndpointMode;
  /** Null for one that is not temporary. */
  temporaryUntil: Date | null;
  rateLimit: number | null;
  headers: Record<string, string>;
  maskedHeaders: string[];
  sealedHeaders: Buffer | null;
  /** Since when every automatic attempt has failed; null while they succeed. */
  failingSince: Date | null;
  secret: Buffer;
  /** Present while a rotation's grace period runs. */
  previousSecret: Buffer | null;
  /** Which bodies of its attempts the tenant keeps; null: none. */
  keeps: KeptBodies | null;
};
