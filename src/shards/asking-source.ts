/** What the target's server asks the source's itself, in the commands of a subscription. */
import type { Db, Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { ConfigError } from "../shared/config-error.ts";
import { hasCode } from "../shared/error-code.ts";
import { limitAsking } from "./copy-store.ts";
import { faultOfSilence } from "./move-faults.ts";
import { lockSubscribing, type MoveSite } from "./move-store.ts";

/** SQLSTATE query_canceled, by a limit of time too. */
const CANCELLED = "57014";

export type Sites = { directory: Pool; source: MoveSite; target: MoveSite };

/**
 * Does the work while no other move asks: it would wait for the other's lock on
 * the server's subscriptions, and its limit of time would run meanwhile.
 *
 * @param next what to do where the target's server gets no answer.
 * @throws ConfigError then.
 */
export async function askAlone<T>(
  { directory, source, target }: Sites,
  next: string,
  work: () => Promise<T>,
): Promise<T> {
  return inTransaction(directory, async (lock) => {
    await lockSubscribing(lock);
    return work().catch((error: unknown) => {
      throw hasCode(error, CANCELLED)
        ? new ConfigError(faultOfSilence(source.name, target.name, next))
        : error;
    });
  });
}

/** The same of commands that PostgreSQL refuses in a transaction: within a session with that limit. */
export async function askAloneInSession(
  sites: Sites,
  next: string,
  work: (target: Db) => Promise<void>,
): Promise<void> {
  await askAlone(sites, next, async () => {
    const session = await sites.target.db.connect();
    try {
      await limitAsking(session, "session");
      await work(session);
    } finally {
      session.release(true);
    }
  });
}
