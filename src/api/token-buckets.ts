/**
 * Token buckets, one for each key, in bounded memory. Free of I/O; callers give the time.
 *
 * A bucket holds `perMinute` tokens at most and gains as many a minute, evenly.
 * All that is kept of it is the moment at which it will be full again: a bucket
 * that is full says nothing, and is the same as one that was never seen.
 *
 * Keys that cost nothing, such as addresses, can be used in great number to have
 * an empty bucket evicted. So the evicted key is not simply the one
 * unused for longest, but of the {@link CANDIDATES} unused for longest the one
 * that has most tokens: new keys evict each other, and to evict an empty
 * bucket, all the others in that row must be emptied first.
 */

/** Times in milliseconds on one clock that never goes back. */
export type Taken =
  | { allowed: true; remaining: number; fullInMs: number; nextInMs: number }
  | { allowed: false; nextInMs: number };

const MINUTE_MS = 60_000;
const CANDIDATES = 16;

export class TokenBuckets {
  readonly #tokenMs: number;
  readonly #maxKeys: number;
  /** When each bucket will be full; in the order of their last use. */
  readonly #fullAtMs = new Map<string, number>();

  /** `perMinute` at least 1: how many a key may take at once, and regains in a minute. */
  constructor({ perMinute, maxKeys }: { perMinute: number; maxKeys: number }) {
    this.#tokenMs = MINUTE_MS / perMinute;
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#fullAtMs.size;
  }

  /** Takes one token of the key's bucket if there is one; a refusal costs nothing. */
  take(key: string, nowMs: number): Taken {
    const fullAtMs = Math.max(this.#fullAtMs.get(key) ?? 0, nowMs) + this.#tokenMs;
    const overdrawnMs = fullAtMs - nowMs - MINUTE_MS;
    // Sums of fractions differ from the whole in their last digits.
    if (overdrawnMs > 1e-6) {
      this.#keep(key, fullAtMs - this.#tokenMs);
      return { allowed: false, nextInMs: overdrawnMs };
    }
    if (!this.#fullAtMs.has(key) && this.#fullAtMs.size >= this.#maxKeys) this.#forgetOne(nowMs);
    this.#keep(key, fullAtMs);
    const remaining = Math.floor(-overdrawnMs / this.#tokenMs + 1e-6);
    return {
      allowed: true,
      remaining,
      fullInMs: fullAtMs - nowMs,
      nextInMs: Math.max(overdrawnMs + this.#tokenMs, 0),
    };
  }

  #keep(key: string, fullAtMs: number): void {
    this.#fullAtMs.delete(key);
    this.#fullAtMs.set(key, fullAtMs);
  }

  #forgetOne(nowMs: number): void {
    let fullest: { key: string; fullAtMs: number } | null = null;
    let seen = 0;
    for (const [key, fullAtMs] of this.#fullAtMs) {
      if (fullest === null || fullAtMs < fullest.fullAtMs) fullest = { key, fullAtMs };
      if (fullAtMs <= nowMs || ++seen === CANDIDATES) break;
    }
    if (fullest !== null) this.#fullAtMs.delete(fullest.key);
  }
}
