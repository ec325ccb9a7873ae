/** Leases of clients that ran out: each is logged as an attempt with the error `timeout`, and the next one follows. */
import type { Pool } from "../database/pool.ts";
import { readStoredTargets } from "../endpoints/send-target.ts";
import type { EndedLease } from "../queue/fetching.ts";
import type { CompletedLease } from "../queue/queue.ts";
import type { DeliveryId, EndpointId } from "../shared/id.ts";
import type { ArtifactKeeper } from "../storage/artifacts/artifact-keeper.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { completeFetched } from "./fetched.ts";
import type { FetchQueue } from "./fetches.ts";

export type EndedLeaseServices = {
  db: Pool;
  find: (db: Pool) => Promise<{ leases: EndedLease[]; mayHaveMore: boolean }>;
  /** Leaves locked rows for the next time. */
  complete: (db: Pool, attempts: readonly CompletedLease[]) => Promise<Set<DeliveryId>>;
  notify: FetchQueue["notify"];
  artifacts: Pick<ArtifactKeeper, "choose">;
  retryDelayMs: (attempt: number) => number | null;
  metrics: Pick<Metrics, "pullExpired" | "attemptsTotal">;
};

/** Ends some of all tenants; true when there may be more. */
export async function endLeases(services: EndedLeaseServices): Promise<boolean> {
  const { db, find, complete, notify, artifacts, retryDelayMs, metrics } = services;
  const { leases, mayHaveMore } = await find(db);
  if (leases.length === 0) return false;
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
  return mayHaveMore && recorded.size > 0;
}
