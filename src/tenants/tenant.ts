/** A tenant as the operator sees it, and the erasure of one. */
import type { TenantId } from "../shared/id.ts";

/** `delivered` and `failed`: attempts of the last day. `shard`: only with several databases. */
export type Tenant = {
  id: TenantId;
  endpoints: number;
  enabled: number;
  failing: number;
  delivered: number;
  failed: number;
  shard?: string;
};

export const ERASURE_STATUSES = ["running", "finished"] as const;

export type Erasure = {
  tenantId: TenantId;
  status: (typeof ERASURE_STATUSES)[number];
  rows: number;
  objects: number;
  /** Why it cannot go on for now. */
  trouble: string | null;
  requestedAt: Date;
  finishedAt: Date | null;
};

/** Rows by table; `isCapped` where there may be more. `held` artifacts refuse the erasure. */
export type TenantRows = { rows: ReadonlyMap<string, number>; isCapped: boolean; held: number };
