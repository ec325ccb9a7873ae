/**
 * Watches whether an endpoint still works. One that answers 410, or that has
 * only failed for `disableAfterMs`, is disabled, and its tenant is told by the
 * event `endpoint.disabled` in the same transaction.
 */
import { recordAudit } from "../audit/audit.ts";
import { POSTERN } from "../audit/audit-entry.ts";
import { maskUrl } from "../audit/mask-url.ts";
import type { Db, Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import type { DispatchHold } from "../dispatch/queue.ts";
import type { Publisher } from "../events/publish.ts";
import type { EndpointTarget } from "./endpoint.ts";
import type { TargetKey } from "./send-target.ts";
import { disableEndpoint, setFailingSince } from "./endpoint-store.ts";

type Observed = Pick<EndpointTarget, "tenantId" | "endpointId" | "url" | "failingSince">;

export type EndpointHealth = {
  /** After each automatic attempt; touches the database only when something changes, and then answers true. */
  observe(endpoint: Observed, outcome: { status: "delivered" | "failed"; isGone: boolean }): Promise<boolean>;
};

/** A person delivered to the endpoint: it works. */
export async function noteDelivered(db: Db, endpoint: TargetKey): Promise<void> {
  await setFailingSince(db, endpoint, false);
}

export function makeEndpointHealth(services: {
  db: Pool;
  publisher: Pick<Publisher, "publishOwn">;
  dispatches: Pick<DispatchHold, "holdAll">;
  disableAfterMs: number;
}): EndpointHealth {
  const { db, publisher, dispatches, disableAfterMs } = services;

  async function disable(endpoint: Observed, reason: "gone" | "failing"): Promise<void> {
    await inTransaction(db, async (transaction) => {
      if (!(await disableEndpoint(transaction, endpoint, reason))) return;
      await dispatches.holdAll(transaction, endpoint.tenantId, endpoint.endpointId);
      await publisher.publishOwn(transaction, endpoint.tenantId, {
        type: "endpoint.disabled",
        data: { endpoint_id: endpoint.endpointId, url: endpoint.url, reason },
      });
      await recordAudit(transaction, {
        tenantId: endpoint.tenantId,
        actor: POSTERN,
        action: "endpoint.disabled",
        endpointId: endpoint.endpointId,
        outcome: "done",
        details: { reason, url: maskUrl(endpoint.url) },
        requestId: null,
        address: null,
      });
    });
  }

  return {
    async observe(endpoint, { status, isGone }) {
      const isFailing = endpoint.failingSince !== null;
      if (isGone) await disable(endpoint, "gone");
      else if (status === "delivered" && isFailing) await setFailingSince(db, endpoint, false);
      else if (status === "failed" && !isFailing) await setFailingSince(db, endpoint, true);
      else if (status === "failed" && hasFailedLong(endpoint)) await disable(endpoint, "failing");
      else return false;
      return true;
    },
  };

  function hasFailedLong({ failingSince }: Observed): boolean {
    return failingSince !== null && Date.now() - failingSince.getTime() >= disableAfterMs;
  }
}
