/** A worker at work for a simulated minute, in a second: worker-simulation.test.ts does more of it, for longer. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { percentile } from "../../test/support/chance.ts";
import { assertPromises } from "../../test/support/worker-promises.ts";
import {
  failing,
  flapping,
  hanging,
  healthy,
  recovering,
  Simulation,
  type SimulatedEndpoint,
} from "../../test/support/worker-simulation.ts";

const SEED = 11;
const WELL: SimulatedEndpoint = { tenant: "well", behaviour: healthy, perSecond: 20 };

const startsAfter = (simulation: Simulation, tenant: string, fromMs: number): number =>
  simulation.startsOf(tenant).filter((atMs) => atMs >= fromMs).length;

describe("a worker", () => {
  it("keeps its promises beside endpoints that hang, fail, flap, recover and are limited", async () => {
    const simulation = new Simulation(SEED, [
      WELL,
      ...Array.from({ length: 12 }, (_, n) => ({
        tenant: `sick-${n % 3}`,
        behaviour: hanging,
        perSecond: 0,
        backlog: 1000,
        bodySize: 1000,
      })),
      { tenant: "limited", behaviour: healthy, perSecond: 0, rateLimit: 5, backlog: 400 },
      { tenant: "recovering", behaviour: recovering(20_000), perSecond: 0, backlog: 3000 },
      { tenant: "flapping", behaviour: flapping(5000), perSecond: 20, arrays: 0.05 },
      { tenant: "busy", behaviour: healthy, perSecond: 150, arrays: 0.02, backlog: 20, untilMs: 10_000 },
      { tenant: "failing", behaviour: failing, perSecond: 2 },
    ]);
    await assertPromises(simulation, 60_000);
    const p99 = percentile(
      simulation.latencies(({ tenant }) => tenant === WELL.tenant),
      0.99,
    );
    assert.ok(p99 <= 6, `${p99} ms`);
    const left = [...simulation.queue.rows.values()].filter(({ tenantId }) => tenantId === "recovering");
    assert.equal(left.length, 0);
    const limited = startsAfter(simulation, "limited", 10_000);
    assert.ok(limited >= 249 && limited <= 251, `${limited} in 50 seconds`);
  });
});
