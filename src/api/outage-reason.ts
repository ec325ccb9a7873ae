/** Why commits do not happen, in words for an operator: the cause, and what to do. */
import { codeOf } from "../shared/error-code.ts";
import type { LockHolder } from "../database/heartbeat-store.ts";
import {
  isConnectionLoss,
  isLockTimeout,
  isPassing,
  isRefusedLogin,
  lacksLocks,
  lacksSharedMemory,
} from "../database/passing-errors.ts";

export const UNREACHABLE = "the database cannot be reached";
export const DISK_FULL =
  "the database's disk is full: free space there or enlarge it, and shorten RETENTION_DAYS";
export const LEFT =
  "the embedded database has stopped with the process that started it: start that again, or restart this one, which then runs it";
const SHARED_MEMORY_FULL =
  "the database's shared memory is full: enlarge /dev/shm where its server runs, as with Docker's --shm-size";
const LOCKS_FULL =
  "the database has no room for more locks: raise max_locks_per_transaction and restart PostgreSQL, or shorten RETENTION_DAYS";
const LET_IN =
  "the database does not let this process in: see its log, and check user, rights, password, database and certificate";
/** As when there is no room for a new connection's caches: neither the user nor a right is at fault. */
const OPENS_NONE =
  "the database opens no connection because of a fault of its own: see its log, and whether its disk is full";
/** PostgreSQL's internal errors, and those of its system. */
const OWN_FAULT = /^(XX|58)/;
const CAUSES: Readonly<Record<string, string>> = {
  POSTERN_NO_HOST:
    "no host of DATABASE_URL accepts writes: see this process's log for each, and promote a standby",
  EMFILE:
    "this process has too many files and connections open: raise its limit (LimitNOFILE of systemd, ulimit -n)",
  ENFILE: "this machine has too many files and connections open: raise fs.file-max",
  "25006":
    "the database is read-only: point DATABASE_URL at the primary, or set default_transaction_read_only off",
  "53100": DISK_FULL,
  "53200": "the database is out of memory: see its log, and give it more or fewer connections",
  "53300":
    "the database has no connection left: raise max_connections or the role's CONNECTION LIMIT, or lower DATABASE_POOL_SIZE of the processes",
  "53400": "the database has reached a limit of its configuration: see its log",
  "58030": "the database can't read or write its files: see its log, and its disk",
  "57P03":
    "the database takes no connections now, as while it starts or recovers: if that lasts, see its log, and whether its disk is full",
  "57014": "the database cancels statements that take too long: see its load, and its log",
};

/** Null where the error is none of the database's state: a fault of Postern, its rights or its schema. */
export function outageReason(error: unknown, holders: readonly LockHolder[] = []): string | null {
  if (isLockTimeout(error)) return lockReason(holders);
  if (lacksSharedMemory(error)) return SHARED_MEMORY_FULL;
  if (lacksLocks(error)) return LOCKS_FULL;
  const cause = CAUSES[codeOf(error)];
  if (cause !== undefined) return cause;
  if (isConnectionLoss(error)) return UNREACHABLE;
  if (isRefusedLogin(error)) return OWN_FAULT.test(codeOf(error)) ? OPENS_NONE : LET_IN;
  return isPassing(error) ? "the database refuses to commit: see its log" : null;
}

function lockReason(holders: readonly LockHolder[]): string {
  const named = holders.map(({ table, pid, name }) => `process ${pid} (${name}) has postern.${table} locked`);
  const [first] = holders;
  if (first === undefined)
    return "another transaction has locked a table of Postern: see pg_locks, and end that transaction";
  return `${named.join(", ")}: end its transaction, as by SELECT pg_terminate_backend(${first.pid})`;
}
