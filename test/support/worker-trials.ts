/**
 * The worker on a simulated clock, beside sick neighbours: what it promises
 * holds in each trial, and a worker that is broken in any of these ways does
 * not pass. In a thread, because these simulations are long.
 */
import assert from "node:assert/strict";
import type { LeasedDispatch } from "../../src/queue/queue.ts";
import { CatchUp } from "../../src/worker/catch-up.ts";
import { Lane } from "../../src/worker/lane.ts";
import { Lanes } from "../../src/worker/lanes.ts";
import { percentile } from "./chance.ts";
import { DueRows } from "./memory-lines.ts";
import { MemoryQueue } from "./memory-queue.ts";
import { playTrials, type Breakage, type Trial } from "./simulation-thread.ts";
import { assertOrderAndRates, assertPromises } from "./worker-promises.ts";
import {
  failing,
  flapping,
  hanging,
  healthy,
  recovering,
  Simulation,
  slow,
  type Behaviour,
  type SimulatedEndpoint,
} from "./worker-simulation.ts";

const WELL: SimulatedEndpoint = { tenant: "well", behaviour: healthy, perSecond: 20 };

type Sick = Partial<SimulatedEndpoint> & { tenants: number; endpoints: number; behaviour: Behaviour };

function beside({ tenants, endpoints, ...sick }: Sick): SimulatedEndpoint[] {
  return Array.from({ length: tenants }, (_, tenant) =>
    Array.from({ length: endpoints }, () => ({ tenant: `sick-${tenant}`, perSecond: 0, ...sick })),
  ).flat();
}

/** Answers the p99 from publishing to sending at the healthy tenant, without the first second, in which a start takes over all backlogs. */
async function play(
  seed: number,
  neighbours: readonly SimulatedEndpoint[],
  seconds: number,
): Promise<number> {
  const simulation = new Simulation(seed, [WELL, ...neighbours]);
  await assertPromises(simulation, seconds * 1000);
  const latencies = simulation.latencies(({ tenant }) => tenant === WELL.tenant);
  return percentile(latencies.slice(WELL.perSecond), 0.99);
}

/** The healthy tenant waits no longer than twice as long as beside as many healthy neighbours. */
async function assertUnaffected(
  seed: number,
  neighbours: readonly SimulatedEndpoint[],
  seconds: number,
): Promise<void> {
  const p99 = await play(seed, neighbours, seconds);
  const well = neighbours.map(({ tenant, perSecond }) => ({ tenant, perSecond, behaviour: healthy }));
  const control = await play(seed, well, 20);
  assert.ok(p99 <= 2 * control, `${p99} ms, and ${control} beside healthy ones`);
}

/** Three time limits of an attempt, or more: all lanes are full by the first, and what comes after is as before. */
const SICK: [name: string, sick: Omit<Sick, "tenants">, seconds: number][] = [
  ["hang", { endpoints: 6, behaviour: hanging, perSecond: 5 }, 45],
  ["hang, each with a backlog", { endpoints: 6, behaviour: hanging, backlog: 700, bodySize: 1000 }, 45],
  ["hang, with large bodies", { endpoints: 30, behaviour: hanging, backlog: 5, bodySize: 300_000 }, 45],
  ["fail", { endpoints: 2, behaviour: failing, perSecond: 2 }, 30],
  ["are slow", { endpoints: 3, behaviour: slow, perSecond: 5 }, 45],
];

const HEALTHY_TENANT = SICK.map(([name, sick, seconds]): [string, Trial] => [
  `a healthy tenant waits no longer beside 1, 2, 3, 10 or 100 tenants whose endpoints ${name}`,
  async (seed) => {
    for (const tenants of [1, 2, 3, 10, 100]) {
      const isLarge = tenants === 100;
      const load = isLarge ? { ...sick, endpoints: Math.ceil(sick.endpoints / 6) } : sick;
      await assertUnaffected(seed, beside({ ...load, tenants }), isLarge ? seconds / 2 : seconds);
    }
  },
]);

const RATES = [2, 5, 50].map((rateLimit): [string, Trial] => [
  `an endpoint sends its ${rateLimit} a second, no more and no fewer, the oldest first`,
  async (seed) => {
    const endpoint = { tenant: "slow", behaviour: healthy, perSecond: 60, rateLimit, backlog: 500 };
    const simulation = new Simulation(seed, [endpoint]);
    const report = await assertPromises(simulation, 100_000);
    // In the first second after its slot arrived, an endpoint catches up on nothing.
    assert.ok(
      Math.abs(report.attempts - 100 * rateLimit) <= 2 + rateLimit / 3,
      `${report.attempts} attempts`,
    );
  },
]);

/** Takes events in all ways, beside a backlog. */
function mixed(tenant: string, more: Partial<SimulatedEndpoint> = {}): SimulatedEndpoint {
  return { tenant, behaviour: healthy, perSecond: 150, arrays: 0.02, backlog: 20, ...more };
}

/** However they are accepted, and while some lanes fill and empty. */
async function keepsOrder(seed: number): Promise<void> {
  const simulation = new Simulation(seed, [
    ...Array.from({ length: 5 }, (_, n) => mixed(`busy-${n}`)),
    mixed("flapping", { behaviour: flapping(3000) }),
    mixed("limited", { rateLimit: 100, perSecond: 80 }),
    mixed("backlogged", { backlog: 3000 }),
  ]);
  await assertPromises(simulation, 20_000);
}

async function keepsOrderAndRate(seed: number): Promise<void> {
  for (let n = 0; n < 20; n++) {
    const endpoints = [
      ...Array.from({ length: 3 }, (_, m) => mixed(`busy-${m}`)),
      mixed("limited", { rateLimit: 40, perSecond: 80 }),
      mixed("limited-too", { rateLimit: 20, perSecond: 80, arrays: 0 }),
    ];
    await assertOrderAndRates(new Simulation(seed + n, endpoints, { isBusy: true }), 5000);
  }
}

/** What comes while the table is full of another endpoint's of its tenant, and before that is parked. */
async function keepsOrderBeside(seed: number): Promise<void> {
  for (let n = 0; n < 3; n++) {
    const simulation = new Simulation(seed + n, [
      { tenant: "sick-0", behaviour: hanging, perSecond: 0, backlog: 20_000 },
      ...beside({ tenants: 1, endpoints: 50, behaviour: healthy, perSecond: 50, backlog: 3 }),
    ]);
    await assertPromises(simulation, 300);
  }
}

async function drains(seed: number): Promise<void> {
  const backlog = 20_000;
  const endpoint = { tenant: "sick", behaviour: recovering(30_000), perSecond: 0, backlog };
  const simulation = new Simulation(seed, [WELL, endpoint]);
  await assertPromises(simulation, 45_000);
  const left = [...simulation.queue.rows.values()].filter(({ tenantId }) => tenantId === "sick");
  // 64 at once, 10 ms each: 6,400 a second, less the climb from 4 and the last hanging ones.
  assert.equal(left.length, 0);
}

function flappingTenants(everyMs: number, perSecond: number, tenants = 1): SimulatedEndpoint[] {
  return beside({ tenants, endpoints: 1, behaviour: flapping(everyMs), perSecond });
}

async function flaps(seed: number): Promise<void> {
  await assertUnaffected(seed, flappingTenants(20_000, 100), 120);
  await assertUnaffected(seed, flappingTenants(4000, 300), 40);
  await assertUnaffected(seed, flappingTenants(10_000, 30, 10), 60);
}

async function areLimited(seed: number): Promise<void> {
  const limited = { endpoints: 1, behaviour: healthy, perSecond: 20, rateLimit: 5 };
  await assertUnaffected(seed, beside({ tenants: 1, ...limited }), 30);
  await assertUnaffected(seed, beside({ tenants: 10, ...limited, backlog: 200 }), 20);
}

/** More tenants than are ever ready at once, each with little, and some sick ones among them. */
async function areMany(seed: number): Promise<void> {
  const many = Array.from({ length: 2000 }, (_, tenant) => ({
    tenant: `tenant-${tenant}`,
    behaviour: healthy,
    perSecond: 0.2,
  }));
  const sick = [
    ...beside({ tenants: 3, endpoints: 2, behaviour: hanging, perSecond: 5, backlog: 500 }),
    { tenant: "failing", behaviour: failing, perSecond: 10 },
    { tenant: "limited", behaviour: healthy, perSecond: 20, rateLimit: 5 },
  ];
  const simulation = new Simulation(seed, [...many, ...sick]);
  await assertPromises(simulation, 20_000);
  const control = new Simulation(seed, many);
  await assertPromises(control, 10_000);
  const [p99, p99OfControl] = [simulation, control].map((one) =>
    percentile(
      one.latencies(({ tenant }) => tenant.startsWith("tenant-")),
      0.99,
    ),
  );
  assert.ok(
    p99 !== undefined && p99OfControl !== undefined && p99 <= 2 * p99OfControl,
    `${p99} ms, ${p99OfControl}`,
  );
}

/** As many endpoints as forty looks claim, each with one dispatch. What is accepted without a lease is found by looks alone. */
async function areDueAtOnce(seed: number): Promise<void> {
  const crowd = beside({ tenants: 2, endpoints: 10_000, behaviour: hanging, backlog: 1 });
  const simulation = new Simulation(seed, [{ ...WELL, arrays: 1, perSecond: 50 }, ...crowd]);
  await assertPromises(simulation, 1000);
  const longestMs = Math.max(...simulation.latencies(({ tenant }) => tenant === WELL.tenant));
  // By age alone it would be the rest of the forty looks.
  assert.ok(longestMs <= 50, `${longestMs} ms`);
}

async function isUnseen(seed: number): Promise<void> {
  const limited = { tenant: "limited", behaviour: healthy, perSecond: 4, rateLimit: 5 };
  const backlogged = { tenant: "sick", behaviour: slow, perSecond: 0, backlog: 300 };
  const simulation = new Simulation(seed, [
    { ...WELL, untilMs: 50_000 },
    { ...limited, untilMs: 50_000 },
    backlogged,
  ]);
  const [{ presence }] = simulation.workers;
  simulation.clock.after(10_000, () => presence.loseSession());
  simulation.clock.after(30_000, () => presence.regainSession());
  await assertPromises(simulation, 400_000);
  assert.equal(simulation.queue.rows.size, 0);
}

async function isSeenLate(seed: number): Promise<void> {
  const simulation = new Simulation(seed, [{ ...WELL, untilMs: 40_000 }]);
  const [{ presence }] = simulation.workers;
  simulation.clock.after(500, () => presence.loseSession());
  simulation.clock.after(50_000, () => presence.regainSession());
  await assertPromises(simulation, 200_000);
  assert.equal(simulation.queue.rows.size, 0);
}

/** A worker that is broken fails one of these. */
async function rate(seed: number): Promise<void> {
  await play(seed, [{ tenant: "limited", behaviour: healthy, perSecond: 20, rateLimit: 5 }], 40);
}

async function besideHanging(seed: number): Promise<void> {
  const sick = beside({ tenants: 3, endpoints: 6, behaviour: hanging, backlog: 1500, bodySize: 1000 });
  const more = { tenant: "more", behaviour: recovering(20_000), perSecond: 0, backlog: 9000 };
  const p99 = await play(seed, [...sick, more], 60);
  assert.ok(p99 <= 6, `${p99} ms`);
}

async function draining(seed: number): Promise<void> {
  const simulation = new Simulation(seed, [
    { tenant: "sick", behaviour: recovering(20_000), perSecond: 0, backlog: 9000 },
  ]);
  await assertPromises(simulation, 40_000);
  assert.equal(simulation.queue.rows.size, 0);
}

export const TRIALS: Record<string, Trial> = {
  ...Object.fromEntries(HEALTHY_TENANT),
  "an endpoint drains its backlog at its own pace once it has recovered": drains,
  ...Object.fromEntries(RATES),
  "first attempts start in the order in which events were accepted": keepsOrder,
  "on a busy machine first attempts keep that order, and endpoints their rate": keepsOrderAndRate,
  "first attempts keep that order while another endpoint's backlog is parked": keepsOrderBeside,
  "a healthy tenant waits no longer beside endpoints that flap": flaps,
  "a healthy tenant waits no longer beside endpoints that are rate-limited": areLimited,
  "2,000 tenants wait no longer beside sick ones": areMany,
  "a healthy tenant waits for few looks beside two tenants with 10,000 endpoints that are due at once":
    areDueAtOnce,
  "a worker that nobody can see for 20 seconds starts nothing meanwhile, and sends everything afterwards":
    isUnseen,
  "a worker that is seen again when its leases are about to end starts no attempt that could outlast its lease, and sends everything afterwards":
    isSeenLate,
  "a worker that is whole keeps a rate limit": rate,
  "a worker that is whole serves a healthy tenant beside hanging ones with backlogs": besideHanging,
  "a worker that is whole drains a backlog": draining,
};

/** Replaces a method until the answer is called. */
function replace<T extends object, K extends keyof T & string>(
  prototype: T,
  name: K,
  make: (original: T[K]) => unknown,
): () => void {
  const original = Object.getOwnPropertyDescriptor(prototype, name);
  assert.ok(original !== undefined);
  Object.defineProperty(prototype, name, { value: make(original.value), configurable: true, writable: true });
  return () => void Object.defineProperty(prototype, name, original);
}

export const BREAKAGES: Record<string, Breakage> = {
  "a lane keeps what it cannot send in time": {
    noticedBy: besideHanging,
    breakIt: () => replace(Lanes.prototype, "tend", () => () => []),
  },
  "a lane ignores its rate limit": {
    noticedBy: rate,
    breakIt: () => replace(Lane.prototype, "keepRate", () => () => 0),
  },
  "a lane sends by a turn of long ago": {
    noticedBy: keepsOrderAndRate,
    breakIt: () => replace(Lane.prototype, "keepRate", (keepRate) => asAtFirst(keepRate)),
  },
  "a lane has no width": {
    noticedBy: besideHanging,
    breakIt: () => replace(Lane.prototype, "widthAt", () => () => 100_000),
  },
  "a lane takes whatever comes": {
    noticedBy: besideHanging,
    breakIt: () => replace(Lane.prototype, "capacityAt", () => () => 1e9),
  },
  "a backlogged lane never asks": {
    noticedBy: draining,
    breakIt: () => replace(Lanes.prototype, "ask", () => () => []),
  },
  "the youngest is pulled first": {
    noticedBy: besideHanging,
    breakIt: () => replace(MemoryQueue.prototype, "pull", (pull) => pullYoungest(pull)),
  },
  "what is claimed is claimed again": {
    noticedBy: rate,
    breakIt: () => replace(MemoryQueue.prototype, "leaseEndMs", () => (nowMs: number) => nowMs + 5000),
  },
  "outcomes are not recorded": {
    noticedBy: rate,
    breakIt: () => replace(MemoryQueue.prototype, "complete", () => async () => new Set()),
  },
  "what has no room is lost": {
    noticedBy: draining,
    breakIt: () => replace(MemoryQueue.prototype, "release", () => async () => undefined),
  },
  "a lane opens before its backlog is gone": {
    noticedBy: rate,
    breakIt: () => replace(Lanes.prototype, "pulled", (pulled) => alwaysAll(pulled)),
  },
  "nothing waits for older dispatches in the table": {
    noticedBy: keepsOrder,
    breakIt: () =>
      replace(CatchUp.prototype, "enter", () => (entering: LeasedDispatch[]) => ({ entering, refused: [] })),
  },
  "a lane opens before all that is due is parked": {
    noticedBy: keepsOrder,
    breakIt: () => replace(MemoryQueue.prototype, "park", () => async () => true),
  },
  "what is older than a lane's refused ones is parked when its turn comes": {
    noticedBy: keepsOrderBeside,
    breakIt: () => replace(MemoryQueue.prototype, "parkOldest", () => async () => undefined),
  },
  "claims are by age alone": {
    noticedBy: areDueAtOnce,
    breakIt: () => replace(DueRows.prototype, "takeInTurns", () => takeByAge),
  },
  "tenants share nothing": {
    noticedBy: besideHanging,
    breakIt: () => replace(Lanes.prototype, "next", (next) => firstTenantOnly(next)),
  },
};

function takeByAge(this: DueRows, ...wanted: Parameters<DueRows["take"]>) {
  return this.take(...wanted);
}

/** As if no time had gone by since. */
function asAtFirst(keepRate: Lane["keepRate"]) {
  return function (this: Lane, ...[dispatch, perSecond]: Parameters<Lane["keepRate"]>) {
    return keepRate.call(this, dispatch, perSecond, 0);
  };
}

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

playTrials(TRIALS, BREAKAGES);
