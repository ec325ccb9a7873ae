/** What a tenant's log adds up to: over time, by endpoint and by cause. */
import type { TenantPool } from "../database/tenant-pool.ts";
import type { BucketCounts } from "./bucket-parts.ts";
import { idTimeMs, type DeliveryId, type EndpointId, type TenantId } from "../shared/id.ts";
import {
  BUCKETS,
  bucketsIn,
  coarsestSpans,
  wholeBuckets,
  type BucketName,
  type Span,
} from "./stats-range.ts";
import {
  readBuckets,
  readCauses,
  readEndpointBuckets,
  readEndpointsNow,
  readNewestAttempts,
} from "./stats-store.ts";

/** What is pending at an endpoint is counted so far. */
export const MAX_PENDING = 10_000;
const MAX_CAUSES = 100;
const MAX_ENDPOINTS = 1000;
const HOUR_MS = 3_600_000;

/** The spans by which endpoints are compared, up to now, and the buckets of their series. */
export const WINDOW_NAMES = ["1h", "24h", "7d", "30d"] as const;
export type WindowName = (typeof WINDOW_NAMES)[number];
export const WINDOWS: Readonly<Record<WindowName, { hours: number; bucket: BucketName }>> = {
  "1h": { hours: 1, bucket: "10m" },
  "24h": { hours: 24, bucket: "1h" },
  "7d": { hours: 7 * 24, bucket: "1d" },
  "30d": { hours: 30 * 24, bucket: "1d" },
};

export type EndpointStats = {
  endpointId: EndpointId;
  /** Oldest first, buckets without attempts included. */
  series: BucketCounts[];
  /** At most {@link MAX_PENDING}. */
  pending: number;
  oldestDueAt: Date | null;
  lastDeliveredAt: Date | null;
  lastFailedAt: Date | null;
};

export type CauseStats = {
  /** An error of a delivery, or `http_` and the status that was answered. */
  cause: string;
  count: number;
  firstAt: Date;
  lastAt: Date;
  /** The newest. */
  example: DeliveryId;
};

export class DeliveryStats {
  readonly #tenants: TenantPool;

  constructor(tenants: TenantPool) {
    this.#tenants = tenants;
  }

  /** Each bucket of the span, of one endpoint or of all (null). The span is of whole buckets. */
  async overTime(
    tenantId: TenantId,
    { endpointId, bucket, span }: { endpointId: EndpointId | null; bucket: BucketName; span: Span },
  ): Promise<BucketCounts[]> {
    const grain = BUCKETS[bucket];
    const found = await readBuckets(this.#tenants.reading(tenantId), tenantId, { endpointId, grain, span });
    return withEmptyBuckets(found, bucketsIn(span, grain));
  }

  /** Each of the tenant's endpoints over the window that ends with the bucket of `nowMs`, the newest endpoint first. */
  async byEndpoint(
    tenantId: TenantId,
    { window, nowMs }: { window: WindowName; nowMs: number },
  ): Promise<{ span: Span; endpoints: EndpointStats[] }> {
    const span = spanOfWindow(window, nowMs);
    const grain = BUCKETS[WINDOWS[window].bucket];
    const db = this.#tenants.reading(tenantId);
    const [counted, states, newest] = await Promise.all([
      readEndpointBuckets(db, tenantId, { grain, span }),
      readEndpointsNow(db, tenantId, { maxEndpoints: MAX_ENDPOINTS, maxPending: MAX_PENDING }),
      readNewestAttempts(db, tenantId),
    ]);
    const buckets = bucketsIn(span, grain);
    const endpoints = states.map(({ endpointId, pending, oldestDueAt }) => ({
      endpointId,
      series: withEmptyBuckets(counted.get(endpointId) ?? [], buckets),
      pending,
      oldestDueAt,
      lastDeliveredAt: timeOf(newest.get(endpointId)?.delivered),
      lastFailedAt: timeOf(newest.get(endpointId)?.failed),
    }));
    return { span, endpoints };
  }

  /** Why attempts failed, most frequent first, at most 100 causes. The span is of whole ten minutes. */
  async causes(
    tenantId: TenantId,
    { endpointId, span }: { endpointId: EndpointId | null; span: Span },
  ): Promise<CauseStats[]> {
    const found = await readCauses(this.#tenants.reading(tenantId), tenantId, {
      endpointId,
      spans: coarsestSpans(span),
      limit: MAX_CAUSES,
    });
    return found.map(({ cause, count, firstId, lastId }) => ({
      cause,
      count,
      firstAt: new Date(idTimeMs(firstId)),
      lastAt: new Date(idTimeMs(lastId)),
      example: lastId,
    }));
  }
}

/** As many whole buckets as the window is long; the last one is under way. */
function spanOfWindow(window: WindowName, nowMs: number): Span {
  const { hours, bucket } = WINDOWS[window];
  const { toMs } = wholeBuckets({ fromMs: nowMs, toMs: nowMs + 1 }, BUCKETS[bucket]);
  return { fromMs: toMs - hours * HOUR_MS, toMs };
}

function withEmptyBuckets(found: readonly BucketCounts[], buckets: readonly number[]): BucketCounts[] {
  const byTime = new Map(found.map((bucket) => [bucket.atMs, bucket]));
  return buckets.map(
    (atMs) => byTime.get(atMs) ?? { atMs, delivered: 0, failed: 0, latencyAvgMs: null, latencyMaxMs: null },
  );
}

function timeOf(id: DeliveryId | null | undefined): Date | null {
  return id === null || id === undefined ? null : new Date(idTimeMs(id));
}
