/**
 * Endpoints whose signing secret does not open. Every event that waits for one
 * meets the secret again once a minute, so with a backlog the log would have
 * thousands of lines of one endpoint: it is told at once, and then seldom.
 */
import type { Clock } from "../shared/clock.ts";
import type { EndpointId } from "../shared/id.ts";

const TELL_EVERY_MS = 60_000;
/** Longer than a lease, after which the events of an endpoint meet its secret again. */
const REMEMBER_MS = 150_000;

export class UnusableSecrets {
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #met = new Map<EndpointId, { lastMs: number; toldMs: number }>();

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  /** Notes that an event met the secret; true where this is to be told. */
  meet(endpointId: EndpointId): boolean {
    const nowMs = this.#clock.nowMs();
    const toldMs = this.#met.get(endpointId)?.toldMs ?? -Infinity;
    const isToTell = nowMs - toldMs >= TELL_EVERY_MS;
    this.#met.set(endpointId, { lastMs: nowMs, toldMs: isToTell ? nowMs : toldMs });
    return isToTell;
  }

  /** Of how many endpoints events met it of late. */
  count(): number {
    const sinceMs = this.#clock.nowMs() - REMEMBER_MS;
    for (const [endpointId, { lastMs }] of this.#met) if (lastMs < sinceMs) this.#met.delete(endpointId);
    return this.#met.size;
  }
}
