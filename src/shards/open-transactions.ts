/** Waits on what is open in a shard's database at this moment. */
import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "../database/pool.ts";
import { readOpenTransactions } from "./copy-store.ts";

const LOOK_MS = 50;

/** Answers how to ask whether every transaction of now has ended. */
export async function endOfOpen(shard: Pool): Promise<() => Promise<boolean>> {
  const open = new Set(await readOpenTransactions(shard));
  return async () => (await readOpenTransactions(shard)).every((id) => !open.has(id));
}

/** Asks until the answer is yes; false where `endsAt` came first. */
export async function until(ask: () => Promise<boolean>, endsAt = Infinity): Promise<boolean> {
  while (!(await ask())) {
    if (performance.now() > endsAt) return false;
    await delay(LOOK_MS);
  }
  return true;
}
