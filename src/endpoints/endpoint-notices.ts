/**
 * Notifies tenants of failing endpoints by Postern's own events:
 * `endpoint.failing` when one has failed for an hour, and again at half of the
 * time after which it is disabled; `delivery.exhausted` for events that were
 * given up, at most once a minute for an endpoint, with their count.
 *
 * Why each is told once, whatever is killed: marks on the endpoint say what was
 * told, and change in the transaction that adds the event to the outbox, under
 * the lock of the endpoint's row. Exhausted events are counted in the statement
 * that logs their last attempt, and taken in the transaction that publishes them.
 * Several processes do this at once: a locked endpoint is another's.
 *
 * Why it costs deliveries nothing: only failing endpoints are looked at, by an
 * index that has no others (docs/adr/0025).
 */
import type { Db, Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import type { Catalog } from "../events/catalog.ts";
import type { LiveCatalog } from "../events/live-catalog.ts";
import { isServiceType } from "../events/built-in-catalog.ts";
import { publishOwnEach } from "../events/own-events.ts";
import { patternsMatching } from "../events/subscription.ts";
import { sumExhausted, takeExhausting, takeFailing } from "./notice-store.ts";

const FAILING_MS = 3_600_000;
const EXHAUSTED_PAUSE_MS = 60_000;
const AT_ONCE = 500;

/** @returns publishes a batch of due notices; true if there may be more. */
export function makeEndpointNotices({
  catalog,
  disableAfterMs,
}: {
  catalog: LiveCatalog;
  disableAfterMs: number;
}): (db: Pool) => Promise<boolean> {
  const afterMs = failingTimes(disableAfterMs);

  async function tellFailing(transaction: Db): Promise<number> {
    const failing = await takeFailing(transaction, {
      afterMs,
      without: ownPatterns(catalog.current()),
      limit: AT_ONCE,
    });
    const told = failing.map(({ tenantId, endpointId, url, failingSince }) => ({
      tenantId,
      type: "endpoint.failing",
      data: {
        endpoint_id: endpointId,
        url,
        failing_since: failingSince.toISOString(),
        disabled_after: new Date(failingSince.getTime() + disableAfterMs).toISOString(),
      },
    }));
    await publishOwnEach(transaction, told);
    return failing.length;
  }

  return async (db) => {
    const failing = await inTransaction(db, tellFailing);
    const exhausting = await inTransaction(db, tellExhausted);
    return failing === AT_ONCE || exhausting === AT_ONCE;
  };
}

async function tellExhausted(transaction: Db): Promise<number> {
  const endpoints = await takeExhausting(transaction, { pauseMs: EXHAUSTED_PAUSE_MS, limit: AT_ONCE });
  if (endpoints.length === 0) return 0;
  const told = (await sumExhausted(transaction, endpoints)).map((exhausted) => ({
    tenantId: exhausted.tenantId,
    type: "delivery.exhausted",
    data: {
      endpoint_id: exhausted.endpointId,
      url: exhausted.url,
      count: exhausted.count,
      delivery_id: exhausted.deliveryId,
      event_id: exhausted.eventId,
      event_type: exhausted.eventType,
    },
  }));
  await publishOwnEach(transaction, told);
  return endpoints.length;
}

/** Milliseconds of failing after which a tenant is told, the shorter first. */
function failingTimes(disableAfterMs: number): [number, number] {
  const halfMs = disableAfterMs / 2;
  return [Math.min(FAILING_MS, halfMs), Math.max(FAILING_MS, halfMs)];
}

/**
 * The patterns that match Postern's own events and no others. Of an endpoint that
 * has only these nothing is told: every delivery there is of such an event.
 */
function ownPatterns(catalog: Catalog): string[] {
  const matching = (isOwn: boolean) =>
    catalog.entries
      .filter(({ type }) => isServiceType(type) === isOwn)
      .flatMap(({ type, version }) => patternsMatching(type, [version]));
  const others = new Set(matching(false));
  return [...new Set(matching(true))].filter((pattern) => !others.has(pattern));
}
