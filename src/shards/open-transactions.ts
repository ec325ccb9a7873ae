import type { Pool } from "../database/pool.ts";
import { endOfPresent } from "../shared/until.ts";
import { readOpenTransactions } from "./copy-store.ts";

/** Answers how to ask whether every transaction of now has ended. */
export function endOfOpen(shard: Pool): Promise<() => Promise<boolean>> {
  return endOfPresent(() => readOpenTransactions(shard));
}
