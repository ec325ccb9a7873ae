/**
 * Watches whether an endpoint still works. One that answers 410, or that has
 * only failed for `disableAfterMs`, is disabled, and its tenant is told by the
 * event `endpoint.disabled` in the same transaction.
 */
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import type { Publisher } from "../events/publish.ts";
import type { EndpointTarget } from "./endpoint.ts";
import { disableEndpoint, setFailingSince } from "./endpoint-store.ts";

type Observed = Pick<EndpointTarget, "tenantId" | "endpointId" | "failingSince">;

export type EndpointHealth = {
  /** After each automatic attempt; touches the database only when something changes. */
  observe(endpoint: Observed, outcome: { status: "delivered" | "failed"; isGone: boolean }): Promise<void>;
};

export function makeEndpointHealth(services: {
  db: Pool;
  publisher: Pick<Publisher, "publishOwn">;
  disableAfterMs: number;
}): EndpointHealth {
  const { db, publisher, disableAfterMs } = services;

  async function disable(endpoint: Observed, reason: "gone" | "failing"): Promise<void> {
    await inTransaction(db, async (transaction) => {
      const url = await disableEndpoint(transaction, endpoint.tenantId, endpoint.endpointId, reason);
      if (url === null) return;
      await publisher.publishOwn(transaction, endpoint.tenantId, {
        type: "endpoint.disabled",
        data: { endpoint_id: endpoint.endpointId, url, reason },
      });
    });
  }

  return {
    async observe(endpoint, { status, isGone }) {
      if (isGone) return disable(endpoint, "gone");
      if (status === "delivered") {
        if (endpoint.failingSince !== null) await setFailingSince(db, endpoint, false);
        return;
      }
      if (endpoint.failingSince === null) return setFailingSince(db, endpoint, true);
      if (Date.now() - endpoint.failingSince.getTime() >= disableAfterMs) await disable(endpoint, "failing");
    },
  };
}
