/** Dispatches for lanes, of endpoints that are numbered through their tenants. */
import assert from "node:assert/strict";
import type { LeasedDispatch } from "../../src/queue/queue.ts";
import { parseEndpointId, parseTenantId } from "../../src/shared/id.ts";
import type { Lanes } from "../../src/worker/lanes.ts";
import { leasedDispatch } from "./leased-dispatch.ts";

const ENDPOINTS_PER_TENANT = 3;

export function dispatchFor(endpoint: number, body = "x"): LeasedDispatch {
  const tenantId = parseTenantId(`tenant-${Math.floor(endpoint / ENDPOINTS_PER_TENANT)}`);
  const endpointId = parseEndpointId(`00000000-0000-7000-8000-${String(endpoint).padStart(12, "0")}`);
  assert.ok(tenantId !== null && endpointId !== null);
  return leasedDispatch({ tenantId, endpointId, body });
}

/** Starts what may start; answers it in its order. */
export function startAll(lanes: Lanes, nowMs = 0): LeasedDispatch[] {
  const started: LeasedDispatch[] = [];
  for (let next = lanes.next(nowMs); next !== null; next = lanes.next(nowMs)) {
    if (next.kind === "start") started.push(next.dispatch);
  }
  return started;
}

export function offerAll(lanes: Lanes, dispatches: readonly LeasedDispatch[], nowMs = 0): void {
  for (const dispatch of dispatches) assert.ok(lanes.offer(dispatch, nowMs));
}
