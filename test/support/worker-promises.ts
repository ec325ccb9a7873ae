/** What a worker promises whatever its receivers do, asserted of every simulation. */
import assert from "node:assert/strict";
import { SHARES } from "../../src/worker/lanes.ts";
import type { Report, Simulation } from "./worker-simulation.ts";

/** As `Lanes` allows it: half as much again for tenants that hold little, and the body that goes beyond. */
const MOST_WEIGHT = SHARES.weight * 1.5 + 400_000;
/** A lease, its return to be parked, and the pull. */
const MOST_UPDATES = 3;

/** Runs a simulation for so long. */
export async function assertPromises(simulation: Simulation, ms: number): Promise<Report> {
  const report = await assertOrderAndRates(simulation, ms);
  assert.ok(report.mostUpdates <= MOST_UPDATES, `${report.mostUpdates} updates of one dispatch`);
  assert.ok(report.updates <= MOST_UPDATES * report.accepted, `${report.updates} updates`);
  assert.ok(report.mostWeight <= MOST_WEIGHT, `${report.mostWeight} bytes`);
  assert.ok(report.mostInFlight <= SHARES.inFlight * 1.5, `${report.mostInFlight} in flight`);
  return report;
}

/** Of these also a busy machine keeps all; one of its dispatches may be parked twice, as its endpoint's pace changes. */
export async function assertOrderAndRates(simulation: Simulation, ms: number): Promise<Report> {
  const report = await simulation.run(ms);
  assert.deepEqual(report.errors, []);
  assert.ok(report.attempts > 0, "no attempts");
  const overtaken = Math.max(0, ...simulation.order.overtaken.values());
  assert.equal(overtaken, 0, `an event was overtaken by ${overtaken} younger ones`);
  return report;
}
