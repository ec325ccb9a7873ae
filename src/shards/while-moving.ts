/** Work for a tenant that may be on its way from one shard to another. */
import { setTimeout as delay } from "node:timers/promises";
import { isMisrouted } from "../database/residence.ts";

const PATIENCE_MS = 2000;
const PAUSE_MS = 50;

/**
 * Does the work again where the shard refuses it: at once, since the tenant may
 * have moved long ago, then for as long as a switch takes. `forget` drops what
 * is known of the tenant's home.
 */
export async function whileMoving<T>(work: () => Promise<T>, forget: () => void): Promise<T> {
  const endsAt = performance.now() + PATIENCE_MS;
  for (let round = 0; ; round++) {
    try {
      return await work();
    } catch (error) {
      if (!isMisrouted(error) || performance.now() > endsAt) throw error;
      forget();
      if (round > 0) await delay(PAUSE_MS);
    }
  }
}

/**
 * A wait that a move outlasts is refused at its end, behind the patience above. For
 * what is left of it, at least for one look, it goes on where the tenant lives now.
 */
export async function waitWhileMoving<T>(waitMs: number, wait: (ms: number) => Promise<T>): Promise<T> {
  const endsAt = performance.now() + waitMs;
  try {
    return await wait(waitMs);
  } catch (error) {
    if (!isMisrouted(error)) throw error;
    return wait(Math.max(0, endsAt - performance.now()));
  }
}
