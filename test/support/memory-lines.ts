/** The rows of the queue in memory, as claims and pulls find them. */
import type { DeliveryId, EndpointId, EndpointKey, TenantId } from "../../src/shared/id.ts";
import type { MemoryRow } from "./memory-rows.ts";

type Entry = { row: MemoryRow; atMs: number };

/** In the order in which they may be claimed. */
export class DueRows {
  readonly #rows: ReadonlyMap<DeliveryId, MemoryRow>;
  /** By time. An entry of an earlier time of its row counts no more. */
  #byTime: Entry[] = [];

  constructor(rows: ReadonlyMap<DeliveryId, MemoryRow>) {
    this.#rows = rows;
  }

  add(row: MemoryRow, among: "first" | "last" = "last"): void {
    const list = this.#byTime;
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = list[middle];
      const isBefore = (otherMs: number): boolean =>
        among === "last" ? otherMs <= row.claimableMs : otherMs < row.claimableMs;
      if (other !== undefined && isBefore(other.atMs)) low = middle + 1;
      else high = middle;
    }
    list.splice(low, 0, { row, atMs: row.claimableMs });
  }

  /** The due rows in the order of their time; what is taken leaves. */
  each(nowMs: number, visit: (row: MemoryRow) => "keep" | "take" | "take last"): void {
    const kept: Entry[] = [];
    let place = 0;
    for (; place < this.#byTime.length; place++) {
      const entry = this.#byTime[place];
      if (entry === undefined || entry.atMs > nowMs) break;
      const { row, atMs } = entry;
      if (this.#rows.get(row.id) !== row || row.claimableMs !== atMs || row.parked || row.held) continue;
      const verdict = visit(row);
      if (verdict === "keep") kept.push(entry);
      if (verdict === "take last") {
        place++;
        break;
      }
    }
    this.#byTime = kept.concat(this.#byTime.slice(place));
  }

  /** The first due rows that are wanted, which leave. */
  take(nowMs: number, isWanted: (row: MemoryRow) => boolean, most: number): MemoryRow[] {
    const taken: MemoryRow[] = [];
    this.each(nowMs, (row) => {
      if (!isWanted(row)) return "keep";
      return taken.push(row) < most ? "take" : "take last";
    });
    return taken;
  }

  /** The first due row, then those of each tenant, as many of each, and of the same turn the smallest first. */
  takeInTurns(nowMs: number, isWanted: (row: MemoryRow) => boolean, most: number): MemoryRow[] {
    const turns = new Map<TenantId, number>();
    const wanted: { row: MemoryRow; turn: number }[] = [];
    this.each(nowMs, (row) => {
      if (!isWanted(row)) return "keep";
      const turn = turns.get(row.tenantId) ?? 0;
      turns.set(row.tenantId, turn + 1);
      if (turn < most) wanted.push({ row, turn: wanted.length === 0 ? -1 : turn });
      return "keep";
    });
    wanted.sort((one, other) => one.turn - other.turn || one.row.body.length - other.row.body.length);
    const taken = wanted.slice(0, most).map(({ row }) => row);
    const isTaken = new Set(taken);
    this.each(nowMs, (row) => (isTaken.has(row) ? "take" : "keep"));
    return taken;
  }

  endpoints(nowMs: number): EndpointId[] {
    const found = new Set<EndpointId>();
    this.each(nowMs, ({ endpointId }) => {
      found.add(endpointId);
      return "keep";
    });
    return [...found];
  }
}

export class ParkedRows {
  readonly #byEndpoint = new Map<EndpointId, Set<MemoryRow>>();

  add(row: MemoryRow): void {
    row.parked = true;
    const rows = this.#byEndpoint.get(row.endpointId) ?? new Set();
    this.#byEndpoint.set(row.endpointId, rows.add(row));
  }

  delete(row: MemoryRow): void {
    row.parked = false;
    const rows = this.#byEndpoint.get(row.endpointId);
    if (rows?.delete(row) === true && rows.size === 0) this.#byEndpoint.delete(row.endpointId);
  }

  /** Those that are not held, the oldest first. */
  oldestOf(endpointId: EndpointId): MemoryRow[] {
    const rows = [...(this.#byEndpoint.get(endpointId) ?? [])].filter(({ held }) => !held);
    return rows.sort((one, other) => one.dueMs - other.dueMs || one.order - other.order);
  }

  /** Those with a parked row that is not held. */
  endpoints(): EndpointKey[] {
    return [...this.#byEndpoint.values()].flatMap((rows) => {
      const row = [...rows].find(({ held }) => !held);
      return row === undefined ? [] : [{ tenantId: row.tenantId, endpointId: row.endpointId }];
    });
  }
}
