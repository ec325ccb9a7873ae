/** Whose leases are whose in the queue in memory, and how those of a dead worker are freed. */
import {
  FREE_LEASES_EVERY_MS,
  makeDeadWorkers,
  type WorkerTable,
} from "../../src/queue/postgres/dead-workers.ts";
import type { DispatchQueue, LeasedDispatch, Presence } from "../../src/queue/queue.ts";
import type { Clock } from "../../src/shared/clock.ts";
import type { Log } from "../../src/telemetry/log.ts";
import { makeMetrics } from "../../src/telemetry/metrics.ts";
import type { MemoryQueue } from "./memory-queue.ts";
import type { MemorySlots } from "./memory-slots.ts";

export class SimulatedLeases {
  readonly #queue: MemoryQueue;
  readonly #slots: MemorySlots;
  readonly #owners = new Map<string, string>();

  constructor(queue: MemoryQueue, slots: MemorySlots) {
    this.#queue = queue;
    this.#slots = slots;
  }

  note(workerId: string, dispatches: readonly LeasedDispatch[]): void {
    for (const { leaseId } of dispatches) this.#owners.set(leaseId, workerId);
  }

  /** How many dispatches a worker has leased. */
  countOf(workerId: string): number {
    return this.#leasesOf(workerId).length;
  }

  /** The queue as one worker uses it. */
  queueOf(workerId: string): DispatchQueue {
    const queue = this.#queue;
    return {
      accept: (...given) => queue.accept(...given),
      acceptParts: (...given) => queue.acceptParts(...given),
      findEarlier: (...given) => queue.findEarlier(...given),
      findKnown: (...given) => queue.findKnown(...given),
      relay: (...given) => queue.relay(...given),
      claim: async (...given) => {
        const found = await queue.claim(...given);
        this.note(workerId, found.claimed);
        return found;
      },
      park: (...given) => queue.park(...given),
      parkOldest: (...given) => queue.parkOldest(...given),
      pull: async (...given) => {
        const found = await queue.pull(...given);
        for (const { claimed } of found.values()) this.note(workerId, claimed);
        return found;
      },
      findDue: (...given) => queue.findDue(...given),
      findBacklogs: () => queue.findBacklogs(),
      complete: (attempts) => queue.complete(attempts),
      release: (dispatches, to) => queue.release(dispatches, to),
      defer: (...given) => queue.defer(...given),
      hold: (dispatches) => queue.hold(dispatches),
      endpointChanged: (...given) => queue.endpointChanged(...given),
      measure: () => queue.measure(),
    };
  }

  /** What a worker's upkeep does about others that died. */
  watchFrom(services: { presence: Presence; clock: Clock; log: Log }): void {
    const { clock } = services;
    const deadWorkers = makeDeadWorkers({ ...services, table: this.#tableOf(clock), metrics: makeMetrics() });
    void repeat();

    async function repeat(): Promise<void> {
      await deadWorkers.look();
      clock.after(FREE_LEASES_EVERY_MS, () => void repeat());
    }
  }

  #tableOf(clock: Clock): WorkerTable {
    const { workers } = this.#slots;
    const statement = <T>(work: () => T): Promise<T> => this.#slots.statement(clock, work);
    return {
      findUnheld: () =>
        statement(() =>
          [...workers]
            .filter(([, { isHeld, isDead }]) => isDead || !isHeld)
            .map(([firstLeaseId, { seenAt, isDead }]) => ({ firstLeaseId, seenAt, isDead })),
        ),
      markDead: (id, silentMs) =>
        statement(() => {
          const row = workers.get(id);
          if (row === undefined || row.isDead || row.isHeld || clock.nowMs() - Number(row.seenAt) <= silentMs)
            return false;
          row.isDead = true;
          return true;
        }),
      freeSome: async (id) => {
        await this.#queue.release(this.#leasesOf(id), "claimable");
        return false;
      },
      removeDead: (id) =>
        statement(() => {
          if (workers.get(id)?.isDead === true) workers.delete(id);
        }),
    };
  }

  #leasesOf(workerId: string): Pick<LeasedDispatch, "id" | "leaseId">[] {
    return [...this.#queue.rows.values()].flatMap(({ id, leaseId }) =>
      leaseId !== null && this.#owners.get(leaseId) === workerId ? [{ id, leaseId }] : [],
    );
  }
}
