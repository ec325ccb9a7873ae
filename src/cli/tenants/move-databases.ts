/** The databases between which a command moves a tenant. */
import { isAway } from "../../database/passing-errors.ts";
import { createPool, type Db, type Pool } from "../../database/pool.ts";
import { readMark } from "../../shards/join-store.ts";
import type { MoveSite } from "../../shards/move-store.ts";
import type { Mark } from "../../shards/shard-faults.ts";
import { ConfigError } from "../../shared/config-error.ts";
import { makeRepeated, type Background } from "../../shared/every.ts";
import { messageOf } from "../../shared/message-of.ts";
import { withinLimit } from "../../shared/time-limit.ts";
import { requireFit, requireMigrated } from "../command-database.ts";
import { withClearErrors } from "../command.ts";
import { CONNECTION_TIMEOUT_MS } from "../databases.ts";
import { describeCause } from "../mistakes.ts";

/** One of the directory's is held for the whole move, and one of the others asks now and then whether they answer. */
const POOL_SIZE = 4;
const LOOK_EVERY_MS = 2000;
const ANSWER_LIMIT_MS = 10_000;

/** `setting`: which has the URL, where it is not SHARDS. */
export type Place = { name: string; url: string; setting?: string };

export function shardOf(shards: readonly Place[], name: string): Place {
  const found = shards.find((shard) => shard.name === name);
  if (found !== undefined) return found;
  const known = shards.map((shard) => shard.name).join(", ");
  throw new ConfigError(`There is no shard ${name}.\nSHARDS names ${known}.`);
}

export async function withPool<T>(
  { name, url, setting = "SHARDS" }: Place,
  work: (db: Pool) => Promise<T>,
): Promise<T> {
  await requireFit(url, `the URL of the shard ${name} in ${setting}`).catch((error: unknown) => {
    if (!isAway(error)) throw error;
    const cause = describeCause(error);
    if (cause !== null) throw new ConfigError(`The shard ${name} can't be used. ${cause}`);
    throw new ConfigError(
      `The shard ${name} cannot be reached: ${messageOf(error)}.\nStart its server, or correct its URL in SHARDS, MOVE_FROM_URL or MOVE_TO_URL.`,
    );
  });
  const db = createPool({
    url,
    poolSize: POOL_SIZE,
    applicationName: "postern move",
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
    // Deleting and counting may take long; each wait has an end of its own.
    statementTimeoutMs: 0,
  });
  try {
    await requireMigrated(db, `the shard ${name}`);
    return await work(db);
  } finally {
    await db.end();
  }
}

/** Whether the database is the shard of this name, in the installation of the directory's mark. */
export async function isShardOf(keeper: Mark | null, { name, db }: MoveSite): Promise<boolean> {
  const mark = await readMark(db);
  return mark !== null && keeper !== null && mark.name === name && mark.directory === keeper.directory;
}

/** Whether its server answers. What fails once it is stopped is of no account. */
export function lookAt(db: Db, answered: () => void, failed: () => void): Background {
  const look = (signal: AbortSignal) =>
    withinLimit(db.query("SELECT"), ANSWER_LIMIT_MS, () => new Error("no answer")).then(answered, () => {
      if (!signal.aborted) failed();
    });
  return makeRepeated(LOOK_EVERY_MS, look, failed);
}

/** No statement of a move has a limit of time: a server that is stopped, or whose network swallows, would be waited for without end. */
export async function whileAnswering<T>(
  { name, db }: { name: string; db: Db },
  silent: (name: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  let answeredAt = performance.now();
  const answered = (): void => void (answeredAt = performance.now());
  // It fails sooner where it needs a new connection. A server that is gone is noticed by the work itself.
  const look = lookAt(db, answered, () => {
    if (performance.now() - answeredAt >= ANSWER_LIMIT_MS) silent(name);
  });
  look.start();
  try {
    return await work();
  } finally {
    await look.stop();
  }
}

/** Ends the process, whatever it is doing. */
export function endAtOnce(mistake: ConfigError): void {
  // Behind what shows the progress.
  if (process.stderr.isTTY) process.stderr.write("\n");
  void withClearErrors(() => Promise.reject(mistake));
}
