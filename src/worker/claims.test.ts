/** One look at the queue: what becomes of what it brings where the lanes, or the queue, have changed their mind. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { leasedDispatch } from "../../test/support/leased-dispatch.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import type { LeasedDispatch } from "../queue/queue.ts";
import { ALL_SLOTS } from "../queue/slots.ts";
import { newEndpointId } from "../shared/id.ts";
import { makeLog } from "../telemetry/log.ts";
import { CatchUp } from "./catch-up.ts";
import { makeClaims, type ClaimsServices } from "./claims.ts";
import { Lanes, SHARES } from "./lanes.ts";

const key = { tenantId: tenant("acme"), endpointId: newEndpointId() };

const outOfReach = () => Promise.reject(new Error("out of reach"));

/** One look of a worker that has all slots. */
async function look(
  { lanes, catchUp }: Pick<ClaimsServices, "lanes"> & { catchUp: CatchUp },
  queue: Partial<ClaimsServices["queue"]>,
) {
  const went = {
    taken: [] as LeasedDispatch[],
    parked: [] as LeasedDispatch[],
    without: [] as LeasedDispatch[],
  };
  const claims = makeClaims({
    queue: {
      claim: async () => ({ claimed: [], withoutEvent: [], isAll: true }),
      park: async () => true,
      parkOldest: async () => undefined,
      pull: async () => new Map(),
      findBacklogs: async () => [],
      ...queue,
    },
    outbox: { relay: async () => "all" },
    lanes,
    catchUp,
    slots: { owned: () => ALL_SLOTS },
    presence: {
      isConfirmed: () => true,
      unbrokenSince: () => 0,
      whenConfirmed: () => undefined,
      covers: () => true,
    },
    clock: new VirtualClock(),
    log: makeLog("silent"),
    take: (dispatches) => void went.taken.push(...dispatches),
    park: (dispatches) => void went.parked.push(...dispatches),
    pulled: () => undefined,
    withoutEvent: (dispatches) => void went.without.push(...dispatches),
  });
  claims.start();
  await claims.underWay();
  await claims.stop();
  return went;
}

it("offers what was pulled for a lane whose slot was left meanwhile to whoever takes it, and keeps none in memory", async () => {
  const lanes = new Lanes(SHARES);
  lanes.foundBacklog(key, 0);
  const dispatch = leasedDispatch(key);
  const pull = async () => {
    lanes.leave(() => true, 0);
    return new Map([[key.endpointId, { claimed: [dispatch], withoutEvent: [], isAll: true }]]);
  };
  const went = await look({ lanes, catchUp: new CatchUp() }, { pull });
  assert.deepEqual(went, { taken: [dispatch], parked: [], without: [] });
});

it("passes pulled dispatches on whose event is gone", async () => {
  const lanes = new Lanes(SHARES);
  lanes.foundBacklog(key, 0);
  const dispatch = leasedDispatch(key);
  const pull = async () =>
    new Map([[key.endpointId, { claimed: [], withoutEvent: [dispatch], isAll: true }]]);
  const went = await look({ lanes, catchUp: new CatchUp() }, { pull });
  assert.deepEqual(went, { taken: [], parked: [], without: [dispatch] });
});

it("parks what waits for a look that fails, since older ones may still be in the table", async () => {
  const catchUp = new CatchUp();
  catchUp.note([key.endpointId], ALL_SLOTS);
  const dispatch = leasedDispatch(key);
  catchUp.enter([dispatch]);
  const went = await look({ lanes: new Lanes(SHARES), catchUp }, { claim: outOfReach });
  assert.deepEqual(went, { taken: [], parked: [dispatch], without: [] });
});
