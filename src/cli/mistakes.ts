/**
 * Faults that the operator can fix: each with two plain lines, the problem and
 * its remedy. All commands use this table; any other error is a fault of the
 * program and is printed whole.
 */
import { codeOf } from "../shared/error-code.ts";
import { NoEmbeddedDatabaseError } from "../database/embedded/embedded-binaries.ts";
import {
  CERTIFICATE_NOT_VALID_NOW,
  CONTENTION,
  isAway,
  lacksLocks,
  lacksSharedMemory,
  REFUSED_USER,
  UNTRUSTED_CERTIFICATE,
} from "../database/passing-errors.ts";
import { SharedConnectionsError } from "../database/pooler.ts";
import { wantOfDisk, wantOfSharedMemory } from "../database/embedded/want-of-room.ts";
import { UnknownHostError } from "../service/listen-at.ts";
import { ConfigError } from "../shared/config-error.ts";
import { messageOf } from "../shared/message-of.ts";
import { StoreUnavailableError } from "../storage/bytes/bucket.ts";
import { NoAnswerError, NoMigrationsError, StrangeAnswerError } from "./command-errors.ts";

type Mistake = {
  /** An error of the chain of causes. */
  is: (error: Fault) => boolean;
  /** What is wrong, and what to do. Never a secret: `message` may hold a URL where a parser made it. */
  say: (error: Fault) => [wrong: string, remedy: string];
};

type Fault = {
  error: Error;
  message: string;
  /** SQLSTATE or Node's code, or empty. */
  code: string;
  /** Node's name of the failed call, or empty. */
  syscall: string;
  /** PostgreSQL's own function that refused, or empty: it tells cases of a code apart where the message is in any language. */
  routine: string;
};

/** A standby, or a setting of the database or of the user. */
export const MAKE_WRITABLE =
  "Name the primary in DATABASE_URL or SHARDS, or set default_transaction_read_only off for the database and its user.";
// Of `pg`, with "be a string" or "be a non-empty string" behind it.
const NO_PASSWORD = "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must";
// Of `pg`, without a code.
const NO_TLS = "There was an error establishing an SSL connection";

// PostgreSQL's, once it knows who connects to which database.
const OPENING = "CheckMyDatabase";
const UNWRITABLE = new Set(["EACCES", "EPERM", "EROFS"]);
/** Node's calls that read, make and change files. */
const OF_FILES = new Set([
  "access",
  "stat",
  "lstat",
  "scandir",
  "opendir",
  "open",
  "mkdir",
  "mkdtemp",
  "rename",
  "link",
  "unlink",
  "rm",
  "rmdir",
  "chmod",
  "chown",
  "copyfile",
  "cp",
]);
/** That refuses a SET ROLE. */
const SET_ROLE = "call_string_check_hook";

/** Of an error with a cause the cause may say more. */
const AWAY: Mistake = {
  is: ({ error }) => isAway(error),
  say: ({ message }) => [
    `The database can't be used: ${message}.`,
    "Check its URL in DATABASE_URL or SHARDS, and that PostgreSQL runs there.",
  ],
};

/** The first that fits counts. */
export const MISTAKES: readonly Mistake[] = [
  {
    is: ({ code }) => code === "EMFILE",
    say: ({ message }) => [
      message,
      "Raise the limit of files and connections that this process may have open: LimitNOFILE of systemd, or ulimit -n.",
    ],
  },
  {
    is: ({ code }) => code === "ENFILE",
    say: ({ message }) => [
      message,
      "All programs of this machine together have too many files and connections open: raise fs.file-max (sysctl).",
    ],
  },
  {
    is: ({ code, syscall }) => code === "EADDRINUSE" && syscall === "listen",
    say: ({ message }) => [message, "Another program has this port: end it, or set PORT to a free one."],
  },
  {
    is: ({ code, syscall }) => code === "EACCES" && syscall === "listen",
    say: ({ message }) => [
      message,
      "This user may not listen on a port below 1024: set PORT to a higher one, for example 8080.",
    ],
  },
  {
    is: ({ error, code, syscall }) =>
      error instanceof UnknownHostError || syscall === "listen" || (syscall === "bind" && code !== ""),
    say: ({ message }) => [
      message,
      "HOST is no address of this machine: set it to one, to 0.0.0.0 for all, or to 127.0.0.1 for this machine alone.",
    ],
  },
  {
    is: ({ code }) => UNTRUSTED_CERTIFICATE.has(code),
    say: ({ message }) => [
      `The database's TLS certificate is not trusted: ${message}.`,
      "Add ?sslrootcert=/path/to/ca.pem to DATABASE_URL, or set NODE_EXTRA_CA_CERTS to that file (docs/operating.md, TLS to the database).",
    ],
  },
  {
    is: ({ code }) => code === "ERR_TLS_CERT_ALTNAME_INVALID",
    say: ({ message }) => [
      `The database's TLS certificate is for another host: ${message}.`,
      "In DATABASE_URL, name the host as the certificate does, or give the server a certificate for this host.",
    ],
  },
  {
    is: ({ code }) => CERTIFICATE_NOT_VALID_NOW.has(code),
    say: ({ message }) => [
      `The database's TLS certificate is not valid now: ${message}.`,
      "Renew the server's certificate, or correct this machine's clock.",
    ],
  },
  {
    is: ({ message }) => message.startsWith("The server does not support SSL connections"),
    say: () => [
      "DATABASE_URL asks for TLS (sslmode), and the database does not offer it.",
      "Turn on TLS there (ssl = on), or remove sslmode from DATABASE_URL where the network between is your own.",
    ],
  },
  {
    // The last where the answer is not PostgreSQL's.
    is: ({ code, message }) => code === "EPROTO" || code.startsWith("ERR_SSL_") || message.startsWith(NO_TLS),
    say: ({ message }) => [
      `No TLS connection to the database comes about: ${tlsReasonIn(message)}.`,
      "Check that PostgreSQL answers at the port of DATABASE_URL, with TLS 1.2 or newer; where it asks for a client's certificate, add sslcert and sslkey.",
    ],
  },
  {
    // The second where a % and what follows it are no UTF-8.
    is: ({ error, code }) => code === "ERR_INVALID_URL" || error instanceof URIError,
    say: () => [
      "DATABASE_URL can't be read.",
      "Percent-encode reserved characters of the user and password: @ as %40, : as %3A, / as %2F, # as %23, ? as %3F, % as %25.",
    ],
  },
  {
    is: ({ error }) => error instanceof NoEmbeddedDatabaseError,
    say: ({ message }) => [
      `${message}.`,
      "Set DATABASE_URL to a PostgreSQL 15 or newer: postgres://user:password@host:5432/database (docs/operating.md, Database).",
    ],
  },
  {
    is: ({ error }) => error instanceof NoMigrationsError,
    say: ({ message }) => [
      `${message}.`,
      "It is part of the program: take the whole release, with migrations/ beside dist/.",
    ],
  },
  {
    is: ({ error }) => error instanceof NoAnswerError,
    say: ({ message }) => [message, "Start Postern there, or name its address with --url."],
  },
  {
    is: ({ error }) => error instanceof StrangeAnswerError,
    say: ({ message }) => [
      message,
      "Name the address of Postern's API with --url, with its BASE_PATH if it has one. If a proxy is before it, see the proxy's log.",
    ],
  },
  {
    is: ({ error }) => error instanceof SharedConnectionsError,
    say: ({ message }) => [
      `${message}.`,
      "Give Postern PostgreSQL itself, or a pool in session mode (pool_mode = session); it has a pool of its own.",
    ],
  },
  {
    is: ({ code, message }) => code === "08P01" && message.includes("unsupported startup parameter"),
    say: ({ message }) => [
      `The database refuses the settings of Postern's connections: ${message}. This is most likely PgBouncer.`,
      "Give Postern PostgreSQL itself, or a pool in session mode that ignores these parameters (docs/operating.md, Poolers).",
    ],
  },
  {
    is: ({ code, routine }) => code === "42501" && routine === OPENING,
    say: ({ message }) => [
      `The database does not let Postern in: ${message}.`,
      `Let an administrator run: GRANT CONNECT ON DATABASE ${databaseIn(message)} TO <user>.`,
    ],
  },
  {
    is: ({ code, routine }) => code === "55000" && routine === OPENING,
    say: ({ message }) => [
      `The database does not let Postern in: ${message}.`,
      "Let an administrator run: ALTER DATABASE <database> ALLOW_CONNECTIONS true.",
    ],
  },
  {
    is: ({ code, routine }) => code === "42501" && routine === SET_ROLE,
    say: ({ message }) => [
      `The database's user may not take a role that Postern's queries run under: ${message}.`,
      "Run `postern migrate`, or let an administrator run: GRANT postern_owner, postern_tenant, postern_publisher, postern_worker TO <user>; see docs/operating.md, Roles.",
    ],
  },
  {
    is: ({ code }) => code === "42501",
    say: ({ message }) => [
      `The database's user may not do what is needed: ${message}.`,
      `Let an administrator run: GRANT CREATE ON DATABASE ${databaseIn(message)} TO <user>; what else the user needs is in docs/operating.md, Database.`,
    ],
  },
  {
    // pg_hba.conf has no line for this connection, or one that rejects it.
    is: ({ code, routine }) => code === "28000" && routine === "ClientAuthentication",
    say: ({ message }) => [
      `The database does not let Postern in: ${message}.`,
      "If pg_hba.conf has only hostssl lines for this host, add ?sslmode=verify-full to DATABASE_URL (docs/operating.md, TLS to the database); else let an administrator add a line there.",
    ],
  },
  {
    is: ({ message }) => message.startsWith(NO_PASSWORD),
    say: () => [
      "The database asks for a password, and its URL has none.",
      "Write it behind the user, postgres://user:password@host/database, in DATABASE_URL or SHARDS, or for a move in MOVE_FROM_URL and MOVE_TO_URL.",
    ],
  },
  {
    is: ({ code }) => REFUSED_USER.has(code),
    say: ({ message }) => [
      `The database does not let Postern in: ${message}.`,
      "Check user, password and database name in DATABASE_URL or SHARDS.",
    ],
  },
  {
    is: ({ error }) => error instanceof StoreUnavailableError,
    say: ({ message }) => [
      `Stored artifacts can't be reached: ${message}.`,
      "`postern storage doctor` tries what is needed of the store; docs/storage.md says what that is.",
    ],
  },
  {
    is: ({ code, message }) => code === "53300" && / for (role|database) /.test(message),
    say: ({ message }) => [
      `The database has no connection left: ${message}.`,
      "Raise that CONNECTION LIMIT (ALTER ROLE, ALTER DATABASE), or lower DATABASE_POOL_SIZE of the processes (docs/operating.md, Database).",
    ],
  },
  {
    is: ({ code }) => code === "53300",
    say: ({ message }) => [
      `The database has no connection left: ${message}.`,
      "Raise max_connections there, or lower DATABASE_POOL_SIZE of the processes (docs/operating.md, Database).",
    ],
  },
  {
    is: ({ code }) => code === "25006",
    say: ({ message }) => [`The database is read-only: ${message}.`, MAKE_WRITABLE],
  },
  {
    // cannot_connect_now
    is: ({ code }) => code === "57P03",
    say: ({ message }) => [
      `The database takes no connections now: ${message}.`,
      "If its server starts or recovers, wait for it. If that lasts, its log says why; see also whether its disk is full.",
    ],
  },
  {
    is: ({ error, code, message }) =>
      wantOfSharedMemory(message) !== null || (code === "53100" && lacksSharedMemory(error)),
    say: ({ message }) => [
      `The database's shared memory is full: ${wantOfSharedMemory(message) ?? message}.`,
      "Enlarge /dev/shm where its server runs, as with Docker's --shm-size, and try again.",
    ],
  },
  {
    is: ({ code }) => code === "53100",
    say: ({ message }) => [
      `The database's disk is full: ${message}.`,
      "Free space there or enlarge it, and try again.",
    ],
  },
  {
    is: ({ code, message }) => code === "ENOSPC" || code === "EDQUOT" || wantOfDisk(message) !== null,
    say: ({ code, message }) => [
      `A disk is full: ${(code === "" ? wantOfDisk(message) : null) ?? message}.`,
      "Free space on that disk (of DATA_DIR, or of the file to be written), or enlarge it, and try again.",
    ],
  },
  {
    is: ({ code, syscall }) => UNWRITABLE.has(code) && OF_FILES.has(syscall),
    say: ({ message }) => [
      `A file or folder cannot be opened or written: ${message}.`,
      "Let the user that runs Postern do so there, or name another place: for Postern's own files set DATA_DIR to another folder.",
    ],
  },
  {
    is: ({ error }) => lacksLocks(error),
    say: ({ message }) => [
      `The database has no room for more locks: ${message}.`,
      "Raise max_locks_per_transaction and restart PostgreSQL, or shorten RETENTION_DAYS.",
    ],
  },
  {
    is: ({ code }) => code === "53200",
    say: ({ message }) => [
      `The database is out of memory: ${message}.`,
      "See its log, which may name a setting to raise; otherwise give it more memory, or fewer connections.",
    ],
  },
  {
    // configuration_limit_exceeded
    is: ({ code }) => code === "53400",
    say: ({ message }) => [
      `The database has reached a limit of its configuration: ${message}.`,
      "See its log, raise the limit that it names, and try again.",
    ],
  },
  {
    is: ({ code }) => code === "58030",
    say: ({ message }) => [
      `The database can't read or write its files: ${message}.`,
      "See its log, and its disk, and try again.",
    ],
  },
  {
    is: ({ code }) => CONTENTION.has(code),
    say: ({ message }) => [
      `The database gave up on a statement: ${message}.`,
      "Another transaction was in the way, it took too long, or somebody cancelled it: see pg_stat_activity and pg_locks, and try again.",
    ],
  },
  AWAY,
];

/** PostgreSQL names the database where the right to connect to it, or to make a schema there, is missing. Found in English alone. */
function databaseIn(message: string): string {
  return /^permission denied for database (\S+)$/.exec(message)?.[1] ?? "<database>";
}

/** Of OpenSSL's line of numbers, routines and files. */
function tlsReasonIn(message: string): string {
  return /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1]?.trim() ?? message.trim();
}

/** The message for a fault that the operator can fix; null for a fault of the program. */
export function describeMistake(error: unknown): string | null {
  return (
    describeCause(error) ??
    (error instanceof Error && isAway(error) ? AWAY.say(faultOf(error)).join("\n") : null)
  );
}

/** The same, but null too where no more is known of a database than that it can't be used. */
export function describeCause(error: unknown): string | null {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof ConfigError) return one.message;
    const fault = faultOf(one);
    const mistake = MISTAKES.find((row) => row !== AWAY && row.is(fault));
    if (mistake !== undefined) return mistake.say(fault).join("\n");
  }
  return null;
}

export function faultOf(error: Error): Fault {
  const syscall = "syscall" in error ? String(error.syscall) : "";
  const routine = "routine" in error ? String(error.routine) : "";
  return { error, message: messageOf(error), code: codeOf(error), syscall, routine };
}
