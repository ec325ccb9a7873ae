/**
 * For how long runs of exports have ended by an outage, as this process has seen
 * it. Another process may take an export over and end it, of which no word comes
 * here: so what is not seen again is forgotten behind others, and nothing else.
 */
import { LRUCache } from "lru-cache";
import type { ExportId } from "../../shared/id.ts";

/** More wait at once for no object store. */
const MOST = 1000;

export class Outages {
  readonly #known = new LRUCache<ExportId, { sinceMs: number; parts: number }>({ max: MOST });

  get size(): number {
    return this.#known.size;
  }

  /** Notes a run that ended so. `parts`: how many are staged; where one was staged since, the outage is a new one. */
  meet(id: ExportId, parts: number, nowMs: number): number {
    const known = this.#known.get(id);
    if (known?.parts === parts) return nowMs - known.sinceMs;
    this.#known.set(id, { sinceMs: nowMs, parts });
    return 0;
  }
}
