/** Leases of clients that ran out: each is logged as an attempt with the error `timeout`, and the next one follows. */
import type { Pool } from "../database/pool.ts";
import { readStoredTargets } from "../endpoints/send-target.ts";
import type { EndedLease } from "../queue/fetching.ts";
import type { CompletedLease } from "../queue/queue.ts";
import type { DeliveryId, EndpointId, TenantId } from "../shared/id.ts";
import type { ArtifactKeeper } from "../storage/artifacts/artifact-keeper.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { completeFetched } from "./fetched.ts";
import type { FetchQueue } from "./fetches.ts";

export type EndedLeaseServices = {
  db: Pool;
  find: (db: Pool, without: readonly TenantId[]) => Promise<{ leases: EndedLease[]; mayHaveMore: boolean }>;
  /** Leaves locked rows for the next time. */
  complete: (db: Pool, attempts: readonly CompletedLease[]) => Promise<Set<DeliveryId>>;
  notify: FetchQueue["notify"];
  artifacts: Pick<ArtifactKeeper, "choose">;
  retryDelayMs: (attempt: number) => number | null;
  metrics: Pick<Metrics, "pullExpired" | "attemptsTotal">;
};

/**
 * Ends some with each call; answers true when there may be more. Whose leases filled a call has no
 * part in the next ones until all others had theirs: none waits for all that another left to run out.
 */
export function makeLeaseEnding(services: EndedLeaseServices): () => Promise<boolean> {
  let had: TenantId[] = [];
  let isAgain = false;
  return async () => {
    const { leases, mayHaveMore } = await services.find(services.db, had);
    const isFull = mayHaveMore && leases.length > 0;
    // Before they are ended: should that fail, the others come next all the same.
    had = isFull ? [...had, ...new Set(leases.map(({ tenantId }) => tenantId))] : [];
    const ended = leases.length === 0 ? 0 : await endLeases(services, leases);
    // What is locked is left for the next time.
    isAgain ||= isFull && ended > 0;
    if (isFull) return true;
    const goesOn = isAgain;
    isAgain = false;
    return goesOn;
  };
}

/** How many. */
async function endLeases(services: EndedLeaseServices, leases: readonly EndedLease[]): Promise<number> {
  const { db, complete, notify, artifacts, retryDelayMs, metrics } = services;
  const endpoints = new Map<EndpointId, EndedLease>(leases.map((lease) => [lease.endpointId, lease]));
  const targets = await readStoredTargets(db, [...endpoints.values()]);
  const keeps = new Map(targets.map((target) => [target.endpointId, target.keeps]));
  const now = new Date();
  const completed = leases.map((lease) => {
    const kept = keeps.get(lease.endpointId) ?? null;
    const toKeep = artifacts.choose(kept, {
      tenantId: lease.tenantId,
      attempt: lease.attempt,
      longResponseBody: null,
    });
    return completeFetched(lease, { kind: "timeout" }, { now, retryDelayMs, toKeep });
  });
  const recorded = await complete(db, completed);
  metrics.pullExpired.inc(recorded.size);
  metrics.attemptsTotal.inc({ outcome: "failed", reason: "timeout" }, recorded.size);
  await notify(db, [...endpoints.keys()]);
  return recorded.size;
}
