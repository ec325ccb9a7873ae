/**
 * Watches whether an endpoint still works. One that answers 410, or that has
 * only failed for `disableAfterMs`, is disabled, and its tenant is told by the
 * event `endpoint.disabled` in the same transaction. One that works again after
 * an `endpoint.failing` (endpoint-notices.ts) is told of by `endpoint.recovered`.
 */
import { recordDone } from "../audit/audit.ts";
import { NO_REQUEST, POSTERN } from "../audit/audit-entry.ts";
import { maskUrl } from "../audit/mask-url.ts";
import type { Db, Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { publishOwn } from "../events/own-events.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { EndpointTarget } from "./endpoint.ts";
import { beginFailing, disableEndpoint, endFailing } from "./endpoint-store.ts";
import { followChange, type Following } from "./follow-change.ts";
import type { EndpointKey } from "../shared/id.ts";

type Observed = Pick<EndpointTarget, "tenantId" | "endpointId" | "url" | "failingSince">;

export type EndpointHealth = {
  /**
   * After each automatic attempt, with the very object that the attempt was
   * made from; true when that must be used no more. Touches the database only
   * when something changes, and once for each object and kind of change: an
   * endpoint that answers now well and now badly is not written at each answer.
   */
  observe(endpoint: Observed, outcome: { status: "delivered" | "failed"; isGone: boolean }): Promise<boolean>;
};

/** The endpoint works, as part of the caller's transaction: a person delivered to it. */
export async function noteDelivered(transaction: Db, endpoint: EndpointKey): Promise<void> {
  // In this order: between the two, its tenant can be told of a failure, and not the other way round.
  if ((await endFailing(transaction, endpoint, false)) === null) await tellRecovered(transaction, endpoint);
}

/** Notes that an endpoint works again whose failure was announced to its tenant, and announces that. */
async function tellRecovered(transaction: Db, { tenantId, endpointId }: EndpointKey): Promise<void> {
  const failed = await endFailing(transaction, { tenantId, endpointId }, true);
  if (failed === null) return;
  await publishOwn(transaction, tenantId, {
    type: "endpoint.recovered",
    data: { endpoint_id: endpointId, url: failed.url, failing_since: failed.failingSince.toISOString() },
  });
}

export function makeEndpointHealth(
  services: Following & { db: Pool; disableAfterMs: number; metrics: Metrics },
): EndpointHealth {
  const { db, disableAfterMs, metrics, log } = services;

  async function disable(endpoint: Observed, reason: "gone" | "failing"): Promise<void> {
    const isDone = await inTransaction(db, async (transaction) => {
      if (!(await disableEndpoint(transaction, endpoint, reason))) return false;
      await publishOwn(transaction, endpoint.tenantId, {
        type: "endpoint.disabled",
        data: { endpoint_id: endpoint.endpointId, url: endpoint.url, reason },
      });
      await recordDisabled(transaction, endpoint, reason);
      return true;
    });
    if (!isDone) return;
    metrics.endpointsDisabled.inc({ reason });
    const { tenantId, endpointId } = endpoint;
    log.warn({ tenantId, endpointId, reason }, "an endpoint was disabled; its tenant can enable it again");
    await followChange(services, { tenantId, endpointId });
  }

  const disabled = new WeakMap<Observed, Promise<void>>();
  const failed = new WeakMap<Observed, Promise<void>>();
  const worked = new WeakMap<Observed, Promise<void>>();

  async function noteWorks(endpoint: Observed): Promise<void> {
    // After a note of its failing that is under way, for the later word counts.
    await failed.get(endpoint)?.catch(() => undefined);
    // Most failures were not announced, and one statement ends them.
    if ((await endFailing(db, endpoint, false)) !== null) return;
    await inTransaction(db, (transaction) => tellRecovered(transaction, endpoint));
  }

  return {
    async observe(endpoint, { status, isGone }) {
      const isFailing = endpoint.failingSince !== null;
      if (isGone || (status === "failed" && hasFailedLong(endpoint))) {
        await once(disabled, endpoint, () => disable(endpoint, isGone ? "gone" : "failing"));
        return true;
      }
      if (status === "failed" && !isFailing) await once(failed, endpoint, () => beginFailing(db, endpoint));
      if (status === "delivered" && (isFailing || failed.has(endpoint)))
        await once(worked, endpoint, () => noteWorks(endpoint));
      return false;
    },
  };

  function hasFailedLong({ failingSince }: Observed): boolean {
    return failingSince !== null && Date.now() - failingSince.getTime() >= disableAfterMs;
  }
}

async function recordDisabled(
  transaction: Db,
  endpoint: Observed,
  reason: "gone" | "failing",
): Promise<void> {
  const { tenantId, endpointId, url } = endpoint;
  const by = { tenantId, actor: POSTERN, ...NO_REQUEST };
  const details = { reason, url: maskUrl(url) };
  await recordDone(transaction, by, { action: "endpoint.disabled", endpointId, details });
}

/** All who ask while it is under way wait for the same; after a failure the next one tries again. */
function once<Key extends object>(
  done: WeakMap<Key, Promise<void>>,
  key: Key,
  work: () => Promise<void>,
): Promise<void> {
  const known = done.get(key);
  if (known !== undefined) return known;
  const working = work();
  done.set(key, working);
  working.catch(() => done.delete(key));
  return working;
}
