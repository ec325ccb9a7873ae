/**
 * Several workers on one simulated queue: an endpoint's rate limit, its attempts
 * in flight and its order hold over all of them, also while they start, stop and
 * stand still: the simulation's own checks are of all workers together. A failure names its seed; give it as POSTERN_SIMULATION_SEED to
 * see the same again.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { POLL_MS } from "./claims.ts";
import { healthy, Simulation, slow, type SimulatedEndpoint } from "../../test/support/worker-simulation.ts";

const SEED = Number(process.env["POSTERN_SIMULATION_SEED"] ?? 1 + Math.floor(Math.random() * 1e6));

const LIMITED: SimulatedEndpoint = { tenant: "limited", behaviour: healthy, perSecond: 0, rateLimit: 50 };
const BUSY: SimulatedEndpoint = { tenant: "busy", behaviour: healthy, perSecond: 40, untilMs: 40_000 };

function withWorkers(count: number, endpoints: readonly SimulatedEndpoint[]): Simulation {
  const simulation = new Simulation(SEED, endpoints);
  while (simulation.workers.length < count) simulation.add();
  return simulation;
}

/** Starts of the endpoint's attempts in each second from one to another. */
function perSecond(startsMs: readonly number[], fromS: number, toS: number): number[] {
  return Array.from(
    { length: toS - fromS },
    (_, n) => startsMs.filter((atMs) => Math.floor(atMs / 1000) === fromS + n).length,
  );
}

/** That others took a silent worker's slots or leases, or made its attempts again, is told, and what these tests are about. */
const TOLD = /other workers took slots of this one|a worker died|passed to another worker/;

function errorsOf(simulation: Simulation): string[] {
  return simulation.report().errors.filter((text) => !TOLD.test(text));
}

/** A look has up to five statements. */
const LOOK_MS = 12;
/** An event that another process accepted is found by the look after its notification, when the one under way is over. */
const TWO_LOOKS_MS = 2 * LOOK_MS;

/** Only events that were published so soon after an event was accepted start before it. */
function assertOvertakenWithin({ order: { overtakenWithinMs } }: Simulation, mostMs: number): void {
  assert.ok(overtakenWithinMs <= mostMs, `overtaken within ${overtakenWithinMs} ms, seed ${SEED}`);
}

describe(`workers that share endpoints, seed ${SEED}`, () => {
  it("keep a rate limit of 50 to 48 to 52 in each second", async () => {
    const simulation = withWorkers(4, [{ ...LIMITED, backlog: 2000 }]);
    const report = await simulation.run(30_000);
    assert.deepEqual(report.errors, [], `seed ${SEED}`);
    const counts = perSecond(simulation.startsOf(LIMITED.tenant), 3, 30);
    assert.ok(
      counts.every((count) => count >= 48 && count <= 52),
      `${counts.join(" ")}, seed ${SEED}`,
    );
  });

  it("exceed no rate limit and no width while slots pass on, and send everything in order", async () => {
    const limited = Array.from({ length: 10 }, (_, n) => ({
      ...LIMITED,
      tenant: `limited-${n}`,
      backlog: 1200,
    }));
    const hanging = { tenant: "slow", behaviour: slow, perSecond: 0.7, untilMs: 40_000 };
    const simulation = withWorkers(2, [...limited, BUSY, hanging]);
    const { clock } = simulation;
    clock.after(5000, () => simulation.add().worker.start());
    clock.after(9000, () => void simulation.workers[0].worker.stop());
    clock.after(14_000, () => simulation.add().worker.start());
    clock.after(20_000, () => void simulation.workers[1]?.worker.stop());
    await simulation.run(90_000);
    assert.deepEqual(errorsOf(simulation), [], `seed ${SEED}`);
    assert.equal(simulation.queue.rows.size, 0, `seed ${SEED}`);
    // With a slot come the backlogs of its endpoints: until each is refused once, a look may claim nothing else.
    assertOvertakenWithin(simulation, TWO_LOOKS_MS + limited.length * LOOK_MS);
  });

  it("let an event of another process be overtaken only until they look again, also if no notification comes", async () => {
    const endpoints = Array.from({ length: 10 }, (_, n) => ({
      ...BUSY,
      tenant: `busy-${n}`,
      untilMs: 10_000,
    }));
    const simulation = withWorkers(3, endpoints);
    simulation.queue.notify = () => undefined;
    await simulation.run(20_000);
    assert.ok(Math.max(...simulation.order.overtaken.values()) > 0, `some are overtaken, seed ${SEED}`);
    assertOvertakenWithin(simulation, POLL_MS + TWO_LOOKS_MS);
  });

  it("exceed no rate limit after one of them stood still or lost its session, and send everything", async () => {
    const limited = Array.from({ length: 10 }, (_, n) => ({
      ...LIMITED,
      tenant: `limited-${n}`,
      backlog: 1000,
    }));
    const simulation = withWorkers(3, [...limited, BUSY]);
    const { clock, workers } = simulation;
    clock.after(4000, () => workers[1]?.clock.pause());
    clock.after(24_000, () => workers[1]?.clock.goOn());
    clock.after(28_000, () => workers[2]?.presence.loseSession());
    clock.after(38_000, () => workers[2]?.presence.regainSession());
    await simulation.run(120_000);
    assert.deepEqual(errorsOf(simulation), [], `seed ${SEED}`);
    assert.equal(simulation.queue.rows.size, 0, `seed ${SEED}`);
  });

  it("start nothing after they stood still for 20 seconds, until they have their session again", async () => {
    // So many that each worker has some of them, before and afterwards.
    const endpoints = Array.from({ length: 40 }, (_, n) => ({ ...BUSY, tenant: `busy-${n}`, perSecond: 3 }));
    const simulation = withWorkers(3, endpoints);
    const { clock, workers } = simulation;
    const still = workers[1];
    assert.ok(still !== undefined);
    clock.after(4000, () => {
      still.clock.pause();
      still.presence.loseSession();
    });
    clock.after(24_000, () => still.clock.goOn());
    clock.after(27_000, () => still.presence.regainSession());
    await simulation.run(60_000);
    assert.deepEqual(errorsOf(simulation), [], `seed ${SEED}`);
    assert.equal(simulation.queue.rows.size, 0, `seed ${SEED}`);
    const startsMs = simulation.startsBy(still);
    assert.deepEqual(
      startsMs.filter((atMs) => atMs > 4000 && atMs < 27_000),
      [],
      `seed ${SEED}`,
    );
    assert.ok(Math.max(...startsMs) > 27_000, `it starts attempts again, seed ${SEED}`);
  });

  it("free a killed one's leases within five seconds, and send what it held", async () => {
    const paced = Array.from({ length: 20 }, (_, n) => ({
      ...LIMITED,
      tenant: `limited-${n}`,
      perSecond: 8,
      rateLimit: 5,
      untilMs: 20_000,
    }));
    const simulation = withWorkers(3, [BUSY, ...paced]);
    const { clock, workers } = simulation;
    let leased = 0;
    for (const [n, worker] of workers.slice(1).entries()) {
      clock.after(10_000 + 9100 * n, () => (leased += simulation.kill(worker)));
    }
    await simulation.run(90_000);
    assert.ok(leased > 20, `${leased} leases of killed workers`);
    assert.deepEqual(errorsOf(simulation), [], `seed ${SEED}`);
    assert.equal(simulation.queue.rows.size, 0, `seed ${SEED}`);
  });
});
