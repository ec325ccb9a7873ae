/**
 * The worker on a simulated clock, beside sick neighbours. A failure names its
 * seed; give it as POSTERN_SIMULATION_SEED to see the same again.
 */
import { after, describe, it } from "node:test";
import { SimulationThread } from "../../test/support/simulation-thread.ts";
import { BREAKAGES, TRIALS } from "../../test/support/worker-trials.ts";

const SEED = Number(process.env["POSTERN_SIMULATION_SEED"] ?? 1 + Math.floor(Math.random() * 1e6));
const simulations = new SimulationThread(
  new URL("../../test/support/worker-trials.ts", import.meta.url),
  SEED,
);
after(() => simulations.stop());

describe(`the worker, seed ${SEED}:`, () => {
  for (const name of Object.keys(TRIALS)) it(name, () => simulations.assertHolds(name));
});

describe("the simulation notices when", () => {
  for (const name of Object.keys(BREAKAGES)) it(name, () => simulations.assertNoticed(name));
});
