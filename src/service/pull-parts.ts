/** The parts for pull endpoints: what clients call, and what workers do beside them. */
import type { Config } from "../config.ts";
import type { RolePools } from "../database/role-pools.ts";
import { makeEndpointHealth } from "../endpoints/endpoint-health.ts";
import { removeAbandoned } from "../endpoints/temporary.ts";
import { ATTEMPT_TIMEOUT_MS, type SenderLimits } from "../outbound/send.ts";
import { makeLeaseEnding } from "../pull/ended-leases.ts";
import { Fetches } from "../pull/fetches.ts";
import { completeAttempts } from "../queue/postgres/complete-store.ts";
import {
  endUnfetched,
  findEndedLeases,
  findHeldByLease,
  leaseHeld,
  nextHeldInMs,
} from "../queue/postgres/fetch-store.ts";
import { notifyFetchers } from "../queue/postgres/follow-store.ts";
import { FetchWaits } from "../queue/fetch-waits.ts";
import type { DispatchQueue } from "../queue/queue.ts";
import type { SecretBox } from "../shared/secret-box.ts";
import type { ArtifactKeeper } from "../storage/artifacts/artifact-keeper.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { nextDelayMs } from "../worker/retry-schedule.ts";

export type PullParts = ReturnType<typeof makePullParts>;

type PullPartsOptions = {
  config: Pick<Config, "retryScheduleMs" | "disableAfterMs" | "retentionDays">;
  databaseUrl: string;
  pools: RolePools;
  queue: Pick<DispatchQueue, "endpointChanged" | "complete">;
  secretBox: SecretBox;
  artifacts: Pick<ArtifactKeeper, "choose">;
  log: Log;
  metrics: Metrics;
  senderLimits?: Partial<SenderLimits>;
};

export function makePullParts(options: PullPartsOptions) {
  const { config, databaseUrl, pools, queue, artifacts, log, metrics } = options;
  const { disableAfterMs, retryScheduleMs, retentionDays } = config;
  const { tenants, worker: db } = pools;
  const waits = new FetchWaits({ databaseUrl, log });
  const retryDelayMs = (attempt: number): number | null =>
    nextDelayMs(attempt, retryScheduleMs, { random: Math.random(), retryAfterMs: null });
  const ending = { db, notify: notifyFetchers, artifacts, retryDelayMs, metrics };
  return {
    waits,
    /** What persons' tests and retries wait by. */
    offers: { waits, attemptTimeoutMs: options.senderLimits?.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS },
    fetches: new Fetches({
      ...options,
      tenants: pools.residents,
      waits,
      retryDelayMs,
      queue: {
        lease: leaseHeld,
        nextInMs: nextHeldInMs,
        findLeased: findHeldByLease,
        complete: (transaction, attempts) => completeAttempts(transaction, attempts, "wait", "tenant"),
        notify: notifyFetchers,
      },
      health: makeEndpointHealth({ db, queue, log, disableAfterMs, metrics }),
    }),
    /** What workers do again and again. */
    upkeep: {
      endLeases: makeLeaseEnding({
        ...ending,
        find: findEndedLeases,
        complete: (pool, attempts) => completeAttempts(pool, attempts, "skip"),
      }),
      removeAbandoned: () => removeAbandoned({ db, tenants, queue, log }),
      endUnfetched: () => endUnfetched(db, retentionDays),
    },
  };
}
