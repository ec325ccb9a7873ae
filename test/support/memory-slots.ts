/** The table of slots in memory, on a given clock, for simulations of workers that share one. */
import { sleep, type Clock } from "../../src/shared/clock.ts";
import {
  SLOT_COUNT,
  type InFlight,
  type SlotRow,
  type SlotStore,
  type SlotWorker,
} from "../../src/queue/slots.ts";

const STATEMENT_MS = 2;
const GONE_AFTER_MS = 10_000;
/** Others find a killed worker within it, and remove its row. */
const REMOVED_AFTER_MS = 5000;

type Row = SlotRow & { inFlight: readonly InFlight[] };
type WorkerRow = {
  seenAt: string;
  takesSlots: boolean;
  registered: string;
  isHeld: boolean;
  isDead: boolean;
};

export class MemorySlots {
  readonly rows: Row[] = Array.from({ length: SLOT_COUNT }, (_, slot) => ({
    slot,
    owner: null,
    term: 0,
    inFlight: [],
  }));
  readonly workers = new Map<string, WorkerRow>();
  /** Told of each change that PostgreSQL would notify of. */
  readonly listeners = new Set<() => void>();
  readonly #clock: Clock;
  /** How long a statement takes on its way there, and as long back. */
  delayMs: () => number = () => STATEMENT_MS / 2;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What a worker does every second. Its session may have ended as the statement runs. Answers its registration; null while its leases are freed. */
  confirm(id: string, isHeld: boolean): string | null {
    const seenAt = String(this.#clock.nowMs());
    const known = this.workers.get(id);
    if (known?.isDead === true) return null;
    const { takesSlots, registered } = known ?? { takesSlots: true, registered: seenAt };
    this.workers.set(id, { seenAt, takesSlots, registered, isHeld, isDead: false });
    return registered;
  }

  /** The worker's session ended. */
  unlock(id: string): void {
    const row = this.workers.get(id);
    if (row !== undefined) row.isHeld = false;
  }

  /** The worker's process ended. */
  killed(id: string): void {
    this.unlock(id);
    this.#clock.after(REMOVED_AFTER_MS, () => void this.workers.delete(id));
  }

  /** Runs on the server; the answer arrives on the worker's own clock, which may stand still. */
  async statement<T>(clock: Clock, work: () => T): Promise<T> {
    await sleep(this.#clock, this.delayMs());
    const answer = work();
    await sleep(clock, this.delayMs());
    return answer;
  }

  storeOf(
    workerId: string,
    { clock, stillInFlight = async () => [] }: { clock: Clock; stillInFlight?: SlotStore["stillInFlight"] },
  ): SlotStore {
    const statement = <T>(work: () => T): Promise<T> => this.statement(clock, work);
    return {
      workerId,
      stillInFlight,
      read: () =>
        statement(() => ({
          slots: this.rows.map(({ slot, owner, term }) => ({ slot, owner, term })),
          workers: [...this.workers]
            .filter(([, { takesSlots }]) => takesSlots)
            .map(([id, { seenAt, isHeld }]): SlotWorker => {
              const silentMs = this.#clock.nowMs() - Number(seenAt);
              return { id, seenAt, isHeld, isGone: !isHeld && silentMs > GONE_AFTER_MS };
            }),
        })),
      take: (slots) =>
        statement(() =>
          this.current(slots).map((row) => {
            const { inFlight } = row;
            row.owner = workerId;
            row.term++;
            row.inFlight = [];
            return { slot: row.slot, term: row.term, inFlight };
          }),
        ),
      leave: (slots, inFlight) =>
        statement(() => {
          for (const row of this.current(slots).filter(({ owner }) => owner === workerId)) {
            row.owner = null;
            row.term++;
            row.inFlight = inFlight.get(row.slot) ?? [];
          }
          this.#notify();
        }),
      retire: () =>
        statement(() => {
          const row = this.workers.get(workerId);
          if (row?.takesSlots !== true) return;
          row.takesSlots = false;
          this.#notify();
        }),
      ask: () => statement(() => this.#notify()),
    };
  }

  /** Those of the slots whose term is still the given one. */
  current(slots: readonly Pick<SlotRow, "slot" | "term">[]): Row[] {
    return slots.flatMap(({ slot, term }) => {
      const row = this.rows[slot];
      return row?.term === term ? [row] : [];
    });
  }

  #notify(): void {
    for (const listener of this.listeners) this.#clock.after(1, listener);
  }
}
