/** Waits for what is looked at again and again. */
import { setTimeout as delay } from "node:timers/promises";

const LOOK_MS = 50;

/** Answers how to ask whether all has ended that is under way now, of what `underWay` names by ids that come once. */
export async function endOfPresent(underWay: () => Promise<string[]>): Promise<() => Promise<boolean>> {
  const present = new Set(await underWay());
  return async () => present.size === 0 || (await underWay()).every((id) => !present.has(id));
}

/** Asks until the answer is yes; false where `endsAt` came first. */
export async function until(ask: () => Promise<boolean>, endsAt = Infinity): Promise<boolean> {
  while (!(await ask())) {
    if (performance.now() > endsAt) return false;
    await delay(LOOK_MS);
  }
  return true;
}
