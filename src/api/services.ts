import type { AuditLog } from "../audit/audit.ts";
import type { CallTally } from "../audit/audit-tally.ts";
import type { EventLog } from "../deliveries/event-log.ts";
import type { DeliveryLog } from "../deliveries/log.ts";
import type { SendAgain } from "../deliveries/send-again.ts";
import type { LogTail } from "../deliveries/tail.ts";
import type { DeliveryStats } from "../deliveries/stats.ts";
import type { PersonSends } from "../deliveries/send-by-person.ts";
import type { Endpoints } from "../endpoints/endpoints.ts";
import type { LiveCatalog } from "../events/live-catalog.ts";
import type { Replays } from "../replays/replays.ts";
import type { PortalSessions } from "../portal/portal-sessions.ts";
import type { Fetches } from "../pull/fetches.ts";
import type { Publisher } from "../events/publish.ts";
import type { Guard } from "../outbound/guard.ts";
import type { EventId, TenantId } from "../shared/id.ts";
import type { Readiness } from "./readiness.ts";
import type { Downloads } from "../storage/library/downloads.ts";
import type { Exports } from "../storage/exports/exports.ts";
import type { StorageSettings } from "../storage/library/settings.ts";
import type { Tenants } from "../tenants/tenants.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { RateLimits } from "./caller-limits.ts";
import type { ArtifactChanges } from "../storage/library/artifact-changes.ts";
import type { ServedFiles } from "./routes/files.ts";
import type { SessionVerifier } from "./session.ts";

export type Installation = {
  limits: {
    endpoints: number;
    writes_per_minute: number;
    dispatches_per_minute: number;
    fetches_per_minute: number;
    retention_days: number;
  };
  features: { private_targets: boolean; public_links: boolean };
};

/** All that the HTTP edge calls. */
export type ApiServices = {
  /** What a session is told of this installation. */
  installation: Installation;
  /** The event with a producer's idempotency key. */
  findKey: (tenantId: TenantId, key: string) => Promise<EventId | null>;
  guard: Pick<Guard, "parse" | "pin">;
  sessions: SessionVerifier;
  portal: Pick<PortalSessions, "grant" | "open" | "act" | "renew" | "end">;
  portalFrameAncestors: readonly string[];
  tenants: Pick<Tenants, "list" | "get" | "count" | "erase" | "getErasure">;
  /** Where clients reach the API, without a slash at its end. */
  publicBase: () => string;
  endpoints: Endpoints;
  deliveryLog: DeliveryLog;
  eventLog: EventLog;
  deliveryStats: DeliveryStats;
  logTail: Pick<LogTail, "watch" | "close">;
  personSends: Pick<PersonSends, "retry" | "composeTest" | "test">;
  sendAgain: SendAgain;
  replays: Replays;
  /** For clients of pull endpoints. */
  fetches: Pick<Fetches, "lease" | "acknowledge" | "close">;
  publisher: Publisher;
  catalog: LiveCatalog;
  downloads: Downloads;
  exports: Exports;
  storageSettings: StorageSettings;
  /** Null where the object store serves signed links itself. */
  artifactChanges: ArtifactChanges;
  servedFiles: ServedFiles | null;
  log: Log;
  metrics: Metrics;
  /** What `/metrics` answers. */
  exposeMetrics: () => Promise<string>;
  tracing: Tracing | null;
  auditLog: AuditLog;
  auditTally: CallTally;
  rateLimits: RateLimits;
  metricsToken: string | undefined;
  readiness: Readiness;
};
