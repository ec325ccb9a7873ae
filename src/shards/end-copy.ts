/** Ends the copy of a move, so that nothing of it is left in either server: a slot would keep the source's log for ever. */
import { setTimeout as delay } from "node:timers/promises";
import { inTransaction } from "../database/transaction.ts";
import { ConfigError } from "../shared/config-error.ts";
import { askAlone, type Sites } from "./asking-source.ts";
import { dropSlots, dropTableSlots, readSubscriptions, readTableSlots } from "./copy-slot-store.ts";
import type { MoveSite } from "./move-store.ts";
import { ASKING_MS, unpublish, unsubscribe, type Copy } from "./copy-store.ts";

const LOOK_MS = 50;

/** The target gets nothing more. Answers what the names of slots for single tables are like, for `dropCopy`. */
export async function stopCopy(sites: Sites, copy: Copy): Promise<string | null> {
  return askAlone(sites, "Then run the command again.", () =>
    inTransaction(sites.target.db, (db) => unsubscribe(db, copy)),
  );
}

/** What is left of it in the source. */
export async function dropCopy({ source, target }: Sites, copy: Copy, slots: string | null): Promise<void> {
  await unpublish(source.db, copy);
  const dropDead = async () => dropTableSlots(source.db, await readDeadSlots(source, target));
  // The target's server has been told to let go of them.
  const endsAt = performance.now() + ASKING_MS;
  while (!(await dropSlots(source.db, copy, slots)) || !(await dropDead())) {
    if (performance.now() > endsAt) {
      throw new ConfigError(
        `Another server than that of ${target.name} fetches the copy from ${source.name} (pg_replication_slots: ${copy.name}), as one that ${target.name} was restored from.\nStop that server, or wait a minute where it is gone, and run the command again.`,
      );
    }
    await delay(LOOK_MS);
  }
}

/**
 * The source's slots for single tables of subscriptions that the target's server does not have any more: a command
 * that was killed behind `stopCopy` knew their names, and the one that goes on does not.
 */
export async function readDeadSlots(
  source: Pick<MoveSite, "db">,
  target: Pick<MoveSite, "db">,
): Promise<string[]> {
  const { server } = await readSubscriptions(target.db);
  const slots = await readTableSlots(source.db, server);
  // Behind that look: a slot comes after its subscription, as that of another move's.
  const living = new Set((await readSubscriptions(target.db)).subscriptions);
  return slots.filter(({ subscription }) => !living.has(subscription)).map(({ name }) => name);
}
