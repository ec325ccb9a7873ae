/**
 * Connections to PostgreSQL. The only door to the package `pg` for the rest of
 * the service: stores take their types from here.
 */
import { Pool, type PoolClient, type QueryConfig, type QueryResult, type QueryResultRow, types } from "pg";
import type { DatabaseLog } from "./log.ts";
import { clientFor } from "./make-client.ts";
import { noteAtOpening } from "./passing-errors.ts";
import type { ServingRole } from "./session-settings.ts";
import { refuseUnreplicated } from "./replication/unreplicated.ts";

export type { Pool, PoolClient } from "pg";

/** What a store needs: a pool, one client of it inside a transaction, or either bound to a tenant. */
export type Db = {
  query<Row extends QueryResultRow = QueryResultRow>(
    text: string | QueryConfig,
    values?: unknown[],
  ): Promise<QueryResult<Row>>;
};

export type PoolOptions = {
  url: string;
  /** Connections at most. */
  poolSize: number;
  /** Shown in pg_stat_activity, so that an operator sees which process holds what. */
  applicationName: string;
  /** How long a caller waits for a connection, free or new. */
  connectionTimeoutMs: number;
  /** A statement that runs longer is cancelled; default 30 s. 0 is off, and no wait for a lock is too long either. */
  statementTimeoutMs?: number;
  /** Every connection assumes it before its first query; default the URL's own user. */
  role?: ServingRole;
  /** Queries of one client may be sent before the earlier ones are answered; default false. */
  pipeline?: boolean;
  /** Called with the error of a connection that was lost while unused. */
  log?: DatabaseLog;
};

const STATEMENT_TIMEOUT_MS = 30_000;
// A lock that is held for longer, as by a producer's open transaction, must not keep others waiting with us.
const LOCK_TIMEOUT_MS = 5000;
// The server's own limit comes first; this one is for a server that has gone silent.
const SILENCE_MS = 5000;
// A transaction that does nothing for so long belongs to a process that hangs; its locks must go.
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
const IDLE_CONNECTION_MS = 30_000;
// `pg` sends no limit that is 0, and an administrator may have set one for the user or the database.
const NO_LIMITS = "SET statement_timeout = 0; SET lock_timeout = 0";
const INT8_OID = 20;

/**
 * Makes a pool; connects only when first used. `int8` comes as a number where
 * it is safe and as a bigint where not, `timestamptz` as a Date. A lost
 * connection fails the query on it and no more: the process lives on.
 */
export function createPool(options: PoolOptions): Pool {
  const { Client, connection } = clientFor(options.url, options.role);
  const pool = new Pool({
    ...connection,
    Client,
    max: options.poolSize,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectionTimeoutMs,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    ...limitsOf(options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS),
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    pipeline: options.pipeline ?? false,
    ...openingOf(options),
    types: { getTypeParser },
  });
  pool.on("error", (error) => {
    // A pool has ended before its connections have: a server that stops right behind it is no loss.
    if (pool.ending) return;
    options.log?.warn(`A database connection was lost while idle: ${error.message}`);
  });
  pool.on("connect", refuseUnreplicated);
  return pool;
}

/** A connection that cannot assume its role fails, and with it the query that wanted it. */
function openingOf({ role, statementTimeoutMs }: PoolOptions) {
  const statements = [
    ...(role === undefined ? [] : [assumeRole(role)]),
    ...(statementTimeoutMs === 0 ? [NO_LIMITS] : []),
  ];
  if (statements.length === 0) return {};
  const verify = (client: PoolClient, done: (error?: Error) => void): void => {
    client.query(statements.join("; "), (error) => {
      noteAtOpening(error);
      done(error);
    });
  };
  return { verify };
}

export function assumeRole(role: ServingRole): string {
  return `SET ROLE ${role}`;
}

function limitsOf(statementTimeoutMs: number) {
  if (statementTimeoutMs === 0) return {};
  return {
    statement_timeout: statementTimeoutMs,
    lock_timeout: LOCK_TIMEOUT_MS,
    query_timeout: statementTimeoutMs + SILENCE_MS,
  };
}

const getTypeParser: typeof types.getTypeParser = (oid: number, format?: "text" | "binary") =>
  oid === INT8_OID && format !== "binary" ? parseInt8 : types.getTypeParser(oid, format);

function parseInt8(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}
