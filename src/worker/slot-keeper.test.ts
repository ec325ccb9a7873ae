/**
 * Many workers' keepers on a simulated clock: no slot ever has two workers that
 * start attempts, and after every trouble the living workers have equal parts
 * within 10 seconds. A failure names its seed; give it as
 * POSTERN_SIMULATION_SEED to see the same again.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { randomFrom } from "../../test/support/chance.ts";
import { MemorySlots } from "../../test/support/memory-slots.ts";
import { SlotSimulation, type SimulatedWorker } from "../../test/support/slot-simulation.ts";
import { Confirmations } from "../queue/confirmations.ts";
import { SilentWorkers } from "./silent-workers.ts";

const SEED = Number(process.env["POSTERN_SIMULATION_SEED"] ?? 1 + Math.floor(Math.random() * 1e6));
const STEPS = 1500;
const MOST_WORKERS = 6;
/** A dead worker's slots pass on within it. */
const RECOVERED_MS = 10_000;
/** Four seconds of silence, and the looks before and after. */
const UNOWNED_MS = 6500;

/** Equal parts of all slots. */
function assertShared(simulation: SlotSimulation, seed: number): void {
  const parts = simulation.parts();
  const text = `parts ${parts.join(", ")} at ${simulation.clock.nowMs()} ms, seed ${seed}`;
  if (parts.length === 0) return;
  assert.equal(
    parts.reduce((sum, part) => sum + part, 0),
    256,
    text,
  );
  assert.ok(Math.max(...parts) - Math.min(...parts) <= 1, text);
}

/** Troubles by chance, and quiet times after which the slots must be shared again. */
async function play(steps: number, seed: number): Promise<SlotSimulation> {
  const simulation = new SlotSimulation();
  const random = randomFrom(seed);
  const upTo = (most: number): number => Math.floor(random() * most);
  simulation.start();
  for (let step = 0; step < steps; step++) {
    trouble(simulation, upTo);
    await simulation.run(upTo(4000));
    if (step % 10 !== 9) continue;
    simulation.slots.delayMs = () => 1;
    for (const worker of simulation.workers.filter(({ isOver }) => !isOver)) {
      worker.clock.goOn();
      worker.presence.regainSession();
    }
    await simulation.run(RECOVERED_MS);
    assertShared(simulation, seed);
  }
  assert.deepEqual(simulation.errors, [], `seed ${seed}`);
  return simulation;
}

function trouble(simulation: SlotSimulation, upTo: (most: number) => number): void {
  const worker: SimulatedWorker | undefined = simulation.workers[upTo(simulation.workers.length)];
  switch (upTo(10)) {
    case 0:
    case 1:
      if (simulation.workers.length < MOST_WORKERS) simulation.start();
      break;
    case 2:
      worker?.kill();
      break;
    case 3:
      void worker?.stop();
      break;
    case 4:
      worker?.clock.pause();
      break;
    case 5:
      worker?.clock.goOn();
      break;
    case 6:
      worker?.presence.loseSession();
      break;
    case 7:
      worker?.presence.regainSession();
      break;
    case 8: {
      const crashing = simulation.start();
      simulation.clock.after(upTo(1500), () => crashing.kill());
      break;
    }
    default: {
      // As when the disk or the network is slow.
      const most = upTo(3) === 0 ? 3000 : 20;
      simulation.slots.delayMs = () => 1 + upTo(most);
    }
  }
}

describe(`the slots of a database, seed ${SEED}`, () => {
  it("never have two owners that start attempts, and are shared again after every trouble", async () => {
    await play(STEPS, SEED);
  });

  it("are all a worker's that starts alone, without a delay", async () => {
    const simulation = new SlotSimulation();
    simulation.start();
    await simulation.run(50);
    assert.deepEqual(simulation.parts(), [256]);
  });

  it("pass on at once from a worker that stops, and to one that starts", async () => {
    const simulation = new SlotSimulation();
    const first = simulation.start();
    await simulation.run(50);
    simulation.start();
    await simulation.run(300);
    assert.deepEqual(simulation.parts(), [128, 128]);
    void first.stop();
    await simulation.run(300);
    assert.deepEqual(simulation.parts(), [256]);
  });

  it("pass on within 10 seconds from a worker that is killed, suspended or has no session", passOn);
});

/** Of two workers, the first stops to start attempts; the second has all slots soon. */
async function passOn(): Promise<void> {
  for (const end of ["kill", "pause", "lose its session"]) {
    const simulation = new SlotSimulation();
    const first = simulation.start();
    const second = simulation.start();
    await simulation.run(3000);
    assertShared(simulation, 0);
    if (end === "kill") first.kill();
    if (end === "pause") first.clock.pause();
    if (end === "lose its session") first.presence.loseSession();
    await simulation.run(RECOVERED_MS);
    const owned = Array.from({ length: 256 }, (_, slot) => slot).filter((slot) => second.mayStart(slot));
    assert.equal(owned.length, 256, end);
  }
}

/** One worker runs on, and another is killed soon after each start. */
async function crashAgainAndAgain(seed: number): Promise<SlotSimulation> {
  const simulation = new SlotSimulation();
  const random = randomFrom(seed);
  simulation.start();
  for (let round = 0; round < 100; round++) {
    // As `postern up --workers` waits before it starts one again.
    await simulation.run(1000 + random() * 1500);
    const crashing = simulation.start();
    // Not as it takes its first slots or those of its next look: one that it is just taking waits twice.
    await simulation.run(200 + random() * 700);
    crashing.kill();
  }
  assert.ok(simulation.longestUnownedMs <= UNOWNED_MS, `${simulation.longestUnownedMs} ms, seed ${seed}`);
  return simulation;
}

describe(`beside a worker that is killed soon after each start, seed ${SEED}`, () => {
  it("no slot is without an owner for longer than a dead worker's", async () => {
    const simulation = await crashAgainAndAgain(SEED);
    assert.deepEqual(simulation.errors, [], `seed ${SEED}`);
    await simulation.run(RECOVERED_MS);
    assertShared(simulation, SEED);
  });
});

/** Replaces a method until the answer is called. */
function replace<T extends object>(prototype: T, name: keyof T & string, value: unknown): () => void {
  const original = Object.getOwnPropertyDescriptor(prototype, name);
  assert.ok(original !== undefined);
  Object.defineProperty(prototype, name, { value, configurable: true });
  return () => void Object.defineProperty(prototype, name, original);
}

const BREAKAGES: [name: string, breakIt: () => () => void][] = [
  [
    "workers count as silent too early",
    () =>
      replace(
        SilentWorkers.prototype,
        "note",
        (workers: { id: string }[]) => new Set(workers.map(({ id }) => id)),
      ),
  ],
  [
    "a presence that had a break is taken for unbroken",
    () => replace(Confirmations.prototype, "unbrokenSinceMs", 0),
  ],
  [
    "a worker starts attempts however long ago it was confirmed",
    () => replace(Confirmations.prototype, "isConfirmed", () => true),
  ],
  [
    "workers that are gone count for the parts",
    () => replace(MemorySlots.prototype, "unlock", () => undefined),
  ],
  ["no worker is ever silent", () => replace(SilentWorkers.prototype, "note", () => new Set())],
  [
    "a slot is taken whatever happened to it since it was read",
    () =>
      replace(MemorySlots.prototype, "current", function (this: MemorySlots, slots: { slot: number }[]) {
        return slots.map(({ slot }) => this.rows[slot]);
      }),
  ],
];

describe("the simulation notices when", () => {
  for (const [name, breakIt] of BREAKAGES) {
    it(name, async () => {
      const repair = breakIt();
      try {
        await assert.rejects(async () => {
          await play(300, 1);
          await passOn();
          await crashAgainAndAgain(1);
        });
      } finally {
        repair();
      }
    });
  }
});
