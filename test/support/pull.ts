/** A client of a pull endpoint. */
import assert from "node:assert/strict";
import type * as z from "zod";
import { ackedObject, leaseObject } from "../../src/api/pull-schemas.ts";
import { OWNER, type Claims } from "./calls.ts";
import { eventually } from "./eventually.ts";
import type { TestService } from "./service.ts";

export type Lease = z.infer<typeof leaseObject>;

/** Every call expects success. */
export function clientOf(service: TestService, endpointId: string, as: Claims = OWNER) {
  async function post(path: string, json: unknown): Promise<unknown> {
    const answer = await service.call("POST", `/api/webhooks/${endpointId}/${path}`, { as, json });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  return {
    endpointId,
    async lease(input: { limit?: number; wait_s?: number } = {}): Promise<Lease> {
      return leaseObject.strict().parse(await post("leases", input));
    },
    async ack(lease: Lease, acks: { id: string; error?: string }[]) {
      return ackedObject.strict().parse(await post("acks", { lease_id: lease.lease_id, acks }));
    },
    /** Ends all of its leases at once. */
    async expire(): Promise<void> {
      await service.database.pool.query(
        "UPDATE postern.dispatches SET claimable_at = now() WHERE endpoint_id = $1 AND lease_owner IS NOT NULL",
        [endpointId],
      );
    },
    /** Until so many calls wait at the process. */
    async untilWaiting(count = 1): Promise<void> {
      await eventually(async () => {
        const { text } = await service.call("GET", "/metrics", { as: null });
        return new RegExp(`^webhook_pull_waiting ${count}$`, "m").test(text);
      });
    },
  };
}

export type Client = ReturnType<typeof clientOf>;
