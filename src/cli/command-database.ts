/** The one opening of commands that work on the database beside a service: named, and found fit, before any work. */
import { requireCertificateFiles } from "../database/certificate-files.ts";
import { nameDatabase, type DatabasePlace } from "../database/database-name.ts";
import { hostsOf } from "../database/hosts/hosts.ts";
import { pendingMigrations } from "../database/schema/migrate.ts";
import type { Db } from "../database/pool.ts";
import { refuseSharedConnections } from "../database/pooler.ts";
import { requireSupported } from "../database/server-version.ts";
import { ConfigError } from "../shared/config-error.ts";
import type { Log } from "../telemetry/log.ts";
import {
  CONNECTION_TIMEOUT_MS,
  loadMigrations,
  openDatabase,
  stopAfterFailure,
  withDatabase,
  type RunningDatabase,
} from "./databases.ts";

/** Throws ConfigError for a server that is too old, and SharedConnectionsError for a pooler in transaction mode. */
export async function openCommandDatabase(place: DatabasePlace, log: Log): Promise<RunningDatabase> {
  sayDatabase(place);
  const database = await openDatabase(place, log);
  try {
    await requireFit(database.url);
    return database;
  } catch (error) {
    return stopAfterFailure(error, database, log);
  }
}

/** On standard error, so that what a script reads stays clean. */
export function sayDatabase(place: DatabasePlace): void {
  console.error(`Database: ${nameDatabase(place)}.`);
}

/** The same check of one database whose URL is known, as that of a shard. */
export async function requireFit(url: string, whose?: string): Promise<void> {
  requireCertificateFiles(url, whose);
  // A connection is given up on before the first look at a host that is silent has ended.
  await hostsOf(url)?.look();
  await refuseSharedConnections(url, CONNECTION_TIMEOUT_MS);
  await withDatabase(url, requireSupported);
}

/** An empty database has an older schema too. @throws ConfigError */
export async function requireMigrated(db: Db, name: string): Promise<void> {
  const pending = await pendingMigrations(db, await loadMigrations());
  if (pending.length > 0)
    throw new ConfigError(`${name}'s schema is older than this program: run postern migrate first`);
}
