/**
 * The worker on a simulated clock, beside sick neighbours: what it promises
 * holds in each scenario, and a worker that is broken in any of these ways does
 * not pass. A failure names its seed; give it as POSTERN_SIMULATION_SEED to see
 * the same again.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MemoryQueue } from "../../test/support/memory-queue.ts";
import {
  failing,
  flapping,
  hanging,
  healthy,
  percentile,
  recovering,
  Simulation,
  slow,
  type Behaviour,
  type SimulatedEndpoint,
} from "../../test/support/worker-simulation.ts";
import { Lane } from "./lane.ts";
import { Lanes, SHARES } from "./lanes.ts";

const SEED = Number(process.env["POSTERN_SIMULATION_SEED"] ?? 1 + Math.floor(Math.random() * 1e6));
/** As `Lanes` allows it: half as much again for tenants that hold little, and the body that goes beyond. */
const MOST_WEIGHT = SHARES.weight * 1.5 + 400_000;
/** A lease, its return to be parked, and the pull. */
const MOST_UPDATES = 3;

const WELL: SimulatedEndpoint = { tenant: "well", behaviour: healthy, perSecond: 20 };

type Sick = Partial<SimulatedEndpoint> & { tenants: number; endpoints: number; behaviour: Behaviour };

function beside({ tenants, endpoints, ...sick }: Sick): SimulatedEndpoint[] {
  return Array.from({ length: tenants }, (_, tenant) =>
    Array.from({ length: endpoints }, () => ({ tenant: `sick-${tenant}`, perSecond: 0, ...sick })),
  ).flat();
}

/** What holds whatever the receivers do. Answers the p99 from publishing to sending at the healthy tenant. */
async function play(
  neighbours: readonly SimulatedEndpoint[],
  seconds: number,
  mostUpdates = MOST_UPDATES,
): Promise<number> {
  const simulation = new Simulation(SEED, [WELL, ...neighbours]);
  const report = await simulation.run(seconds * 1000);
  assert.deepEqual(report.errors, [], `seed ${SEED}`);
  assert.ok(report.attempts > 0, `seed ${SEED}`);
  assert.ok(report.mostUpdates <= mostUpdates, `${report.mostUpdates} updates of one dispatch, seed ${SEED}`);
  assert.ok(report.updates <= 3 * report.accepted, `${report.updates} updates, seed ${SEED}`);
  assert.ok(report.mostWeight <= MOST_WEIGHT, `${report.mostWeight} bytes, seed ${SEED}`);
  assert.ok(report.mostInFlight <= SHARES.inFlight * 1.5, `${report.mostInFlight} in flight, seed ${SEED}`);
  const overtaken = Math.max(0, ...simulation.overtaken.values());
  // Those whose acceptance was under way as a lane opened.
  assert.ok(overtaken <= 20, `an event was overtaken by ${overtaken} younger ones, seed ${SEED}`);
  return percentile(
    simulation.latencies(({ tenant }) => tenant === "well"),
    0.99,
  );
}

/** Three time limits of an attempt, or more: all lanes are full by the first, and what comes after is as before. */
const SICK: [name: string, sick: Omit<Sick, "tenants">, seconds: number][] = [
  ["hang", { endpoints: 6, behaviour: hanging, perSecond: 5 }, 45],
  ["hang, each with a backlog", { endpoints: 6, behaviour: hanging, backlog: 700, bodySize: 1000 }, 45],
  ["hang, with large bodies", { endpoints: 30, behaviour: hanging, backlog: 5, bodySize: 300_000 }, 45],
  ["fail", { endpoints: 2, behaviour: failing, perSecond: 2 }, 30],
  ["are slow", { endpoints: 3, behaviour: slow, perSecond: 5 }, 45],
];

describe(`a healthy tenant, seed ${SEED}`, () => {
  for (const [name, sick, seconds] of SICK) {
    it(`waits no longer beside 1, 2, 3, 10 or 100 tenants whose endpoints ${name}`, async () => {
      for (const tenants of [1, 2, 3, 10, 100]) {
        const isLarge = tenants === 100;
        const load = isLarge ? { ...sick, endpoints: Math.ceil(sick.endpoints / 6) } : sick;
        const p99 = await play(beside({ ...load, tenants }), isLarge ? seconds / 2 : seconds);
        const control = await play(beside({ ...load, backlog: 0, tenants, behaviour: healthy }), 20);
        assert.ok(
          p99 <= 2 * control,
          `${p99} ms beside ${tenants}, ${control} beside healthy ones, seed ${SEED}`,
        );
      }
    });
  }
});

describe(`an endpoint, seed ${SEED}`, () => {
  it("drains its backlog at its own pace once it has recovered", async () => {
    const backlog = 20_000;
    const endpoint = { tenant: "sick", behaviour: recovering(30_000), perSecond: 0, backlog };
    const simulation = new Simulation(SEED, [WELL, endpoint]);
    await simulation.run(45_000);
    const left = [...simulation.queue.rows.values()].filter(({ tenantId }) => tenantId === "sick");
    // 64 at once, 10 ms each: 6,400 a second, less the climb from 4 and the last hanging ones.
    assert.equal(left.length, 0, `seed ${SEED}`);
  });

  for (const rateLimit of [2, 5, 50]) {
    it(`sends its ${rateLimit} a second, no more and no fewer, the oldest first`, async () => {
      const endpoint = { tenant: "slow", behaviour: healthy, perSecond: 60, rateLimit, backlog: 500 };
      const simulation = new Simulation(SEED, [endpoint]);
      const report = await simulation.run(100_000);
      assert.deepEqual(report.errors, [], `seed ${SEED}`);
      // In the first second after its slot arrived, an endpoint catches up on nothing.
      assert.ok(
        Math.abs(report.attempts - 100 * rateLimit) <= 2 + rateLimit / 3,
        `${report.attempts}, seed ${SEED}`,
      );
      assert.deepEqual([...simulation.overtaken.values()], [0], `seed ${SEED}`);
      assert.ok(report.mostUpdates <= 3, `${report.mostUpdates}, seed ${SEED}`);
    });
  }

  it("that flaps is sent everything in the end, in order", async () => {
    // What was taken while it was well is trimmed once more when it hangs.
    const mostUpdates = MOST_UPDATES + 1;
    await play([{ tenant: "sick", behaviour: flapping(20_000), perSecond: 100 }], 120, mostUpdates);
    await play([{ tenant: "sick", behaviour: flapping(4000), perSecond: 300 }], 40, mostUpdates);
  });
});

describe(`a worker that nobody can see for 20 seconds, seed ${SEED}`, () => {
  it("starts nothing meanwhile, and sends everything afterwards", async () => {
    const limited = { tenant: "limited", behaviour: healthy, perSecond: 4, rateLimit: 5 };
    const backlogged = { tenant: "sick", behaviour: slow, perSecond: 0, backlog: 300 };
    const simulation = new Simulation(SEED, [
      { ...WELL, untilMs: 50_000 },
      { ...limited, untilMs: 50_000 },
      backlogged,
    ]);
    const [{ presence }] = simulation.workers;
    simulation.clock.after(10_000, () => presence.loseSession());
    simulation.clock.after(30_000, () => presence.regainSession());
    const report = await simulation.run(400_000);
    assert.deepEqual(report.errors, [], `seed ${SEED}`);
    assert.equal(simulation.queue.rows.size, 0, `seed ${SEED}`);
  });
});

describe(`a worker that is seen again when its leases are about to end, seed ${SEED}`, () => {
  it("starts no attempt that could outlast its lease, and sends everything afterwards", async () => {
    const simulation = new Simulation(SEED, [{ ...WELL, untilMs: 40_000 }]);
    const [{ presence }] = simulation.workers;
    simulation.clock.after(500, () => presence.loseSession());
    simulation.clock.after(50_000, () => presence.regainSession());
    const report = await simulation.run(200_000);
    assert.deepEqual(report.errors, [], `seed ${SEED}`);
    assert.equal(simulation.queue.rows.size, 0, `seed ${SEED}`);
  });
});

/** What the simulation is asked where a worker is broken. Each is noticed by one of these. */
const TRIALS = {
  async rate() {
    await play([{ tenant: "limited", behaviour: healthy, perSecond: 20, rateLimit: 5 }], 40);
  },
  async hanging() {
    const sick = beside({ tenants: 3, endpoints: 6, behaviour: hanging, backlog: 1500, bodySize: 1000 });
    const more = { tenant: "more", behaviour: recovering(20_000), perSecond: 0, backlog: 9000 };
    const p99 = await play([...sick, more], 60);
    assert.ok(p99 <= 6, `${p99} ms`);
  },
  async draining() {
    const simulation = new Simulation(SEED, [
      { tenant: "sick", behaviour: recovering(20_000), perSecond: 0, backlog: 9000 },
    ]);
    await simulation.run(40_000);
    assert.equal(simulation.queue.rows.size, 0);
  },
};

type Breakage = [name: string, noticedBy: keyof typeof TRIALS, breakIt: () => () => void];

/** Replaces a method until the answer is called. */
function replace<T extends object, K extends keyof T & string>(
  prototype: T,
  name: K,
  make: (original: T[K]) => unknown,
): () => void {
  const original = prototype[name];
  Object.defineProperty(prototype, name, { value: make(original), configurable: true, writable: true });
  return () =>
    void Object.defineProperty(prototype, name, { value: original, configurable: true, writable: true });
}

const BREAKAGES: Breakage[] = [
  [
    "a lane keeps what it cannot send in time",
    "hanging",
    () => replace(Lanes.prototype, "tend", () => () => []),
  ],
  ["a lane ignores its rate limit", "rate", () => replace(Lane.prototype, "keepRate", () => () => 0)],
  ["a lane has no width", "hanging", () => replace(Lane.prototype, "widthAt", () => () => 100_000)],
  ["a lane takes whatever comes", "hanging", () => replace(Lane.prototype, "capacityAt", () => () => 1e9)],
  ["a backlogged lane never asks", "draining", () => replace(Lanes.prototype, "ask", () => () => [])],
  [
    "the youngest is pulled first",
    "hanging",
    () => replace(MemoryQueue.prototype, "pull", (pull) => pullYoungest(pull)),
  ],
  [
    "what is claimed is claimed again",
    "rate",
    () => replace(MemoryQueue.prototype, "leaseEndMs", () => (nowMs: number) => nowMs + 5000),
  ],
  [
    "outcomes are not recorded",
    "rate",
    () => replace(MemoryQueue.prototype, "complete", () => async () => new Set()),
  ],
  [
    "what has no room is lost",
    "draining",
    () => replace(MemoryQueue.prototype, "release", () => async () => undefined),
  ],
  [
    "a lane opens before its backlog is gone",
    "rate",
    () => replace(Lanes.prototype, "pulled", (pulled) => alwaysAll(pulled)),
  ],
  [
    "tenants share nothing",
    "hanging",
    () => replace(Lanes.prototype, "next", (next) => firstTenantOnly(next)),
  ],
];

function pullYoungest(pull: MemoryQueue["pull"]) {
  return async function (this: MemoryQueue, ...asks: Parameters<MemoryQueue["pull"]>) {
    for (const row of this.rows.values()) if (row.parked) row.dueMs = -row.order;
    return pull.apply(this, asks);
  };
}

function alwaysAll(pulled: Lanes["pulled"]) {
  return function (this: Lanes, ...[endpointId, found, nowMs]: Parameters<Lanes["pulled"]>) {
    pulled.call(this, endpointId, { ...found, isAll: true }, nowMs);
  };
}

/** While one tenant has something to send, the others wait. */
function firstTenantOnly(next: Lanes["next"]) {
  return function (this: Lanes, nowMs: number) {
    return this.inFlight >= 40 ? null : next.call(this, nowMs);
  };
}

describe(`the simulation, seed ${SEED}`, () => {
  for (const [name, trial] of Object.entries(TRIALS)) {
    it(`finds nothing wrong with a worker that is whole: ${name}`, trial);
  }
  for (const [name, noticedBy, breakIt] of BREAKAGES) {
    it(`notices when ${name}`, async () => {
      const mend = breakIt();
      try {
        await assert.rejects(TRIALS[noticedBy]);
      } finally {
        mend();
      }
    });
  }
});
