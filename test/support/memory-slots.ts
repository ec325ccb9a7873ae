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

type Row = SlotRow & { inFlight: readonly InFlight[] };
type WorkerRow = { seenAt: string; takesSlots: boolean; registered: string };

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

  /** What a worker does every second. Answers its registration. */
  confirm(id: string): string {
    const seenAt = String(this.#clock.nowMs());
    const { takesSlots, registered } = this.workers.get(id) ?? { takesSlots: true, registered: seenAt };
    this.workers.set(id, { seenAt, takesSlots, registered });
    return registered;
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
            .map(([id, { seenAt }]): SlotWorker => ({ id, seenAt, isGone: false })),
        })),
      take: (slots) =>
        statement(() =>
          this.current(slots).map((row) => {
            row.owner = workerId;
            row.term++;
            return { slot: row.slot, term: row.term, inFlight: row.inFlight };
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
