/** What `postern doctor` says of the workers: how they share the endpoints. */
import type { Db } from "../../database/pool.ts";
import { readSlotShares } from "../../service/slot-shares.ts";
import type { Finding } from "./finding.ts";

const FIX =
  "look again in 10 seconds, which a dead worker's slots take to pass on; if some still have none, read the log of the workers";

export async function checkWorkers(db: Db): Promise<Finding> {
  const check = "workers";
  const { parts, unowned } = await readSlotShares(db);
  if (parts.length === 0) return { check, status: "ok", detail: "none runs on this database now" };
  const detail = `${parts.length} running, with ${parts.join(", ")} of ${unowned + sum(parts)} slots of endpoints`;
  if (unowned === 0) return { check, status: "ok", detail };
  return { check, status: "warn", detail: `${detail}; ${unowned} have no worker`, fix: FIX };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
