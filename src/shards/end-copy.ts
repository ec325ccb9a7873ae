/** Ends the copy of a move, so that nothing of it is left in either server: a slot would keep the source's log for ever. */
import { setTimeout as delay } from "node:timers/promises";
import { inTransaction } from "../database/transaction.ts";
import { ConfigError } from "../shared/config-error.ts";
import { inTurn, type Sites } from "./asking-source.ts";
import { ASKING_MS, dropSlots, unpublish, unsubscribe, type Copy } from "./copy-store.ts";

const LOOK_MS = 50;

export async function endCopy(sites: Sites, copy: Copy): Promise<void> {
  const { source, target } = sites;
  const slots = await inTurn(sites, "Then run the command again.", () =>
    inTransaction(target.db, (db) => unsubscribe(db, copy)),
  );
  await unpublish(source.db, copy);
  // The target's server has been told to let go of them.
  const endsAt = performance.now() + ASKING_MS;
  while (!(await dropSlots(source.db, copy, slots))) {
    if (performance.now() > endsAt) {
      throw new ConfigError(
        `Another server than that of ${target.name} fetches the copy from ${source.name} (pg_replication_slots: ${copy.name}), as one that ${target.name} was restored from.\nStop that server, or wait a minute where it is gone, and run the command again.`,
      );
    }
    await delay(LOOK_MS);
  }
}
