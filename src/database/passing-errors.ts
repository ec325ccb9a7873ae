/**
 * The one list of database errors that pass by themselves. All code that decides
 * between retrying and giving up, or between 503 and 500, uses it.
 */
import { codeOf } from "../shared/error-code.ts";

/** The connection is gone, or there never was one. */
const LOST = new Set(
  [
    ["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
    ["ENOTFOUND", "EAI_AGAIN"],
    // admin_shutdown, crash_shutdown, cannot_connect_now, idle_session_timeout, too_many_connections
    ["57P01", "57P02", "57P03", "57P05", "53300"],
    // idle_in_transaction_session_timeout, transaction_timeout: the server closes the connection.
    ["25P03", "25P04"],
    // Our own: see host-errors.ts.
    ["POSTERN_NO_HOST", "POSTERN_CONNECTION_REFUSED"],
  ].flat(),
);

// pg gives these no code.
const LOST_MESSAGE =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed and is not queryable)/;

export const UNTRUSTED_CERTIFICATE: ReadonlySet<string> = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
]);
export const CERTIFICATE_NOT_VALID_NOW: ReadonlySet<string> = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
]);
// invalid_authorization_specification, invalid_password, invalid_catalog_name
export const REFUSED_USER: ReadonlySet<string> = new Set(["28000", "28P01", "3D000"]);

/** The server answers, and can't do this now. */
const REFUSED_FOR_NOW = new Set(
  [
    // query_canceled (by statement_timeout), lock_not_available (by lock_timeout)
    ["57014", "55P03"],
    // deadlock_detected, serialization_failure
    ["40P01", "40001"],
    // read_only_sql_transaction: a standby, or a database that was set so
    ["25006"],
    // insufficient_resources, disk_full, out_of_memory, configuration_limit_exceeded; io_error
    ["53000", "53100", "53200", "53400", "58030"],
    // Our own: the tenant is being moved to another shard (residence.ts).
    ["PS001"],
  ].flat(),
);

/** At the opening of a connection, so no statement of the call has run. */
const REFUSED_LOGIN = new Set([
  ...REFUSED_USER,
  ...UNTRUSTED_CERTIFICATE,
  ...CERTIFICATE_NOT_VALID_NOW,
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

// pg gives these no code: a password is asked for and there is none, or TLS that was turned off.
const REFUSED_LOGIN_MESSAGE = /^(SASL: |The server does not support SSL connections)/;

/** Came at the opening too, with codes that mean else elsewhere, as insufficient_privilege for a missing CONNECT. */
const atOpening = new WeakSet<Error>();

// lock_not_available, deadlock_detected, serialization_failure; query_canceled (by statement_timeout)
export const CONTENTION: ReadonlySet<string> = new Set(["55P03", "40P01", "40001", "57014"]);

// lock_not_available, deadlock_detected
const LOCK_CONFLICT = new Set(["55P03", "40P01"]);

// disk_full, out_of_memory, too_many_connections, configuration_limit_exceeded; io_error; read_only_sql_transaction
const OF_THE_SERVER = new Set(["53100", "53200", "53300", "53400", "58030", "25006"]);

/**
 * Whether a database call failed because its connection is lost or could not
 * be opened: the connection must not be used again. Looks through `cause`.
 */
export function isConnectionLoss(error: unknown): boolean {
  return anyCause(error, (one) => {
    const code = codeOf(one);
    return LOST.has(code) || /^08...$/.test(code) || LOST_MESSAGE.test(one.message);
  });
}

/**
 * Whether the connection on which a call failed must not be used again: it is
 * lost, or its server takes no writes any more, as a former primary.
 */
export function isConnectionSpent(error: unknown): boolean {
  return isConnectionLoss(error) || anyCause(error, (one) => codeOf(one) === "25006");
}

/**
 * Whether a database call failed because of a state of the database that
 * passes, not because of the call: the caller tries again later (503). Every
 * connection loss is one, and so is a refused login: an operator mends it while
 * the process runs. Looks through `cause`.
 */
export function isPassing(error: unknown): boolean {
  return isAway(error) || isRefusedLogin(error);
}

/** What {@link isPassing} knows, less what only an operator can mend: at a start, that is told instead of waited for. */
export function isAway(error: unknown): boolean {
  return isConnectionLoss(error) || anyCause(error, (one) => REFUSED_FOR_NOW.has(codeOf(one)));
}

/** For whoever opens a connection: it could not be opened because of this. */
export function noteAtOpening(error: unknown): void {
  if (error instanceof Error) atOpening.add(error);
}

/** Whether the server lets nobody in with this user, password, database, role or certificate. */
export function isRefusedLogin(error: unknown): boolean {
  return anyCause(
    error,
    (one) =>
      REFUSED_LOGIN.has(codeOf(one)) ||
      REFUSED_LOGIN_MESSAGE.test(one.message) ||
      (atOpening.has(one) && !isAway(one)),
  );
}

/** Whether a database call gave up waiting for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return anyCause(error, (one) => codeOf(one) === "55P03");
}

/**
 * Whether a database call failed because another transaction was in its way: it
 * held a lock, or the two waited for each other. Or the call took too long,
 * which may be its own fault. Others may pass meanwhile.
 */
export function isContention(error: unknown): boolean {
  return anyCause(error, (one) => CONTENTION.has(codeOf(one)));
}

/**
 * Whether a lock, or a deadlock, was in the way. Not a cancelled query: whoever
 * cancels a statement that is tried again wants it to end.
 */
export function isLockConflict(error: unknown): boolean {
  return anyCause(error, (one) => LOCK_CONFLICT.has(codeOf(one)));
}

/**
 * Whether the server as a whole can't do what was asked. Not a time limit or a
 * lock, which may be one tenant's doing.
 */
export function isOfTheServer(error: unknown): boolean {
  return isRefusedLogin(error) || anyCause(error, (one) => OF_THE_SERVER.has(codeOf(one)));
}

/**
 * Whether no disk is full, but the memory that the server's processes share, as for a
 * parallel query: PostgreSQL has one code for both. Its own function tells them apart in any language.
 */
export function lacksSharedMemory(error: unknown): boolean {
  return anyCause(error, (one) => {
    return codeOf(one) === "53100" && "routine" in one && one.routine === "dsm_impl_posix";
  });
}

/** Whether no memory is full, but the table of locks of the server, which is told by the same code. */
export function lacksLocks(error: unknown): boolean {
  return anyCause(error, (one) => codeOf(one) === "53200" && "file" in one && one.file === "lock.c");
}

function anyCause(error: unknown, holds: (one: Error) => boolean): boolean {
  if (!(error instanceof Error)) return false;
  if (holds(error)) return true;
  // A name with several addresses fails with all their errors at once.
  if (error instanceof AggregateError && error.errors.some((one) => anyCause(one, holds))) return true;
  return error.cause !== undefined && anyCause(error.cause, holds);
}
