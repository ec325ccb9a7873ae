/**
 * `node bench/simulate.ts [seconds] [seed]`: the worker on a simulated clock,
 * beside tenants that hang, fail, flap, limit and recover, for 10,000 simulated
 * seconds. Prints what it saw; the status is 1 when a promise was broken.
 */
import { percentile } from "../test/support/chance.ts";
import {
  failing,
  flapping,
  hanging,
  healthy,
  recovering,
  Simulation,
  slow,
} from "../test/support/worker-simulation.ts";

const seconds = Number(process.argv[2] ?? 10_000);
const seed = Number(process.argv[3] ?? 1);
const perSecond = 1;

const simulation = new Simulation(seed, [
  ...Array.from({ length: 5 }, (_, n) => ({ tenant: `well-${n}`, behaviour: healthy, perSecond })),
  ...Array.from({ length: 20 }, (_, n) => ({ tenant: `hangs-${n % 10}`, behaviour: hanging, perSecond })),
  { tenant: "fails", behaviour: failing, perSecond },
  { tenant: "slow", behaviour: slow, perSecond },
  { tenant: "flaps", behaviour: flapping(60_000), perSecond: 5 },
  { tenant: "limited", behaviour: healthy, perSecond: 3, rateLimit: 2 },
  { tenant: "recovers", behaviour: recovering((seconds * 1000) / 2), perSecond, backlog: 5000 },
]);
const startedAtMs = performance.now();
const report = await simulation.run(seconds * 1000);
const well = simulation.latencies(({ tenant }) => tenant.startsWith("well"));
const figures = {
  ...report,
  seed,
  simulatedS: seconds,
  tookS: Number(((performance.now() - startedAtMs) / 1000).toFixed(1)),
  healthyP99Ms: percentile(well, 0.99),
};
console.log(JSON.stringify(figures, null, 2));
if (report.errors.length > 0 || !(figures.healthyP99Ms < 20)) process.exitCode = 1;
