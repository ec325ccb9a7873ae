import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NoEmbeddedDatabaseError } from "../database/embedded/embedded-binaries.ts";
import { SharedConnectionsError } from "../database/pooler.ts";
import { UnknownHostError } from "../service/listen-at.ts";
import { StoreUnavailableError } from "../storage/bytes/bucket.ts";
import { NoAnswerError, NoMigrationsError, StrangeAnswerError } from "./command-errors.ts";
import { describeMistake, faultOf, MISTAKES } from "./mistakes.ts";

const fault = (code: string, message: string, syscall?: string): Error =>
  Object.assign(new Error(message), { code, ...(syscall === undefined ? {} : { syscall }) });

/** As PostgreSQL sends it: the text is in the server's language, the rest is not. */
const ofServer = (code: string, routine: string, message: string): Error =>
  Object.assign(fault(code, message), { routine });

const CASES: [name: string, error: Error, wrong: RegExp, remedy: RegExp][] = [
  [
    "a port that is taken",
    fault("EADDRINUSE", "listen EADDRINUSE: address already in use 127.0.0.1:8080", "listen"),
    /address already in use/,
    /set PORT to a free one/,
  ],
  [
    "a privileged port",
    fault("EACCES", "listen EACCES: permission denied 127.0.0.1:80", "listen"),
    /permission denied 127\.0\.0\.1:80/,
    /set PORT to a higher one/,
  ],
  [
    "a HOST of another machine",
    fault("EADDRNOTAVAIL", "listen EADDRNOTAVAIL: address not available 192.0.2.1:8080", "listen"),
    /address not available/,
    /^HOST is no address of this machine/,
  ],
  [
    "a misspelled HOST, which is no database's",
    new UnknownHostError("getaddrinfo ENOTFOUND loclhost", { cause: fault("ENOTFOUND", "getaddrinfo") }),
    /ENOTFOUND loclhost/,
    /^HOST is no address of this machine/,
  ],
  [
    "a limit of open files",
    fault("EMFILE", "EMFILE: too many open files, open 'migrations/0001_webhooks.sql'", "open"),
    /too many open files/,
    /LimitNOFILE/,
  ],
  [
    "a limit of open files of the machine",
    fault("ENFILE", "ENFILE: file table overflow, open 'migrations/0001_webhooks.sql'", "open"),
    /file table overflow/,
    /fs\.file-max/,
  ],
  [
    "a certificate of an unknown authority",
    fault("UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unable to verify the first certificate"),
    /is not trusted/,
    /sslrootcert/,
  ],
  [
    "a certificate for another host, which sslrootcert does not help",
    fault("ERR_TLS_CERT_ALTNAME_INVALID", "IP: 127.0.0.1 is not in the cert's list"),
    /is for another host/,
    /name the host as the certificate does/,
  ],
  [
    "an expired certificate",
    fault("CERT_HAS_EXPIRED", "certificate has expired"),
    /is not valid now/,
    /^Renew/,
  ],
  [
    "a URL without the password that the database asks for",
    new Error("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string"),
    /asks for a password/,
    /^Write it behind the user, .*MOVE_FROM_URL/,
  ],
  [
    "a server without TLS",
    new Error("The server does not support SSL connections"),
    /asks for TLS/,
    /^Turn on TLS there/,
  ],
  [
    "a server of a TLS that is too old",
    fault(
      "EPROTO",
      "write EPROTO 401D:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:../rec.c:918:SSL alert number 70\n",
      "write",
    ),
    /^No TLS connection to the database comes about: tlsv1 alert protocol version\.$/,
    /TLS 1\.2 or newer/,
  ],
  [
    "a password with a reserved character",
    fault("ERR_INVALID_URL", "Invalid URL"),
    /can't be read/,
    /^Percent-encode/,
  ],
  [
    "a password with a % before hexadecimal digits that are no UTF-8",
    new URIError("URI malformed"),
    /can't be read/,
    /% as %25/,
  ],
  [
    "a program without its migrations",
    new NoMigrationsError("/opt/postern/migrations is missing"),
    /migrations is missing\.$/,
    /^It is part of the program: take the whole release/,
  ],
  [
    "an API that is away",
    new NoAnswerError("no answer from http://127.0.0.1:1: connect ECONNREFUSED", {
      cause: fault("ECONNREFUSED", "connect ECONNREFUSED", "connect"),
    }),
    /^no answer from http:/,
    /^Start Postern there/,
  ],
  [
    "an answer of another program",
    new StrangeAnswerError("http://127.0.0.1:1 answered 200, and not as Postern does: <html>", 200),
    /answered 200/,
    /--url, with its BASE_PATH/,
  ],
  [
    "a pooler in transaction mode",
    new SharedConnectionsError("DATABASE_URL leads to a pooler in transaction or statement mode"),
    /transaction or statement mode\.$/,
    /^Give Postern PostgreSQL itself/,
  ],
  [
    "a platform without an embedded database",
    new NoEmbeddedDatabaseError("no embedded database is installed for linux x64"),
    /no embedded database/,
    /^Set DATABASE_URL/,
  ],
  [
    "a pooler that refuses startup parameters",
    fault("08P01", "unsupported startup parameter: options"),
    /most likely PgBouncer/,
    /session mode that ignores these parameters/,
  ],
  [
    "a user without CONNECT",
    ofServer("42501", "CheckMyDatabase", 'permission denied for database "postern"'),
    /does not let Postern in/,
    /^Let an administrator run: GRANT CONNECT ON DATABASE "postern" TO <user>\.$/,
  ],
  [
    "a user without CONNECT, of a server that speaks German",
    ofServer("42501", "CheckMyDatabase", "keine Berechtigung für Datenbank »postern«"),
    /does not let Postern in: keine Berechtigung für Datenbank »postern«\.$/,
    /^Let an administrator run: GRANT CONNECT ON DATABASE <database> TO <user>\.$/,
  ],
  [
    "a database that takes no connections",
    ofServer("55000", "CheckMyDatabase", "Datenbank »postern« akzeptiert gegenwärtig keine Verbindungen"),
    /does not let Postern in/,
    /ALLOW_CONNECTIONS true/,
  ],
  [
    "a user that may not take a role of Postern's",
    ofServer("42501", "call_string_check_hook", 'permission denied to set role "postern_worker"'),
    /^The database's user may not take a role that Postern's queries run under: .*"postern_worker"\.$/,
    /^Run `postern migrate`, .*administrator run: GRANT postern_owner, .*, postern_worker TO <user>;.*Roles\.$/,
  ],
  [
    "a user without CREATE",
    ofServer("42501", "aclcheck_error", "permission denied for database postern"),
    /^The database's user may not do what is needed/,
    /GRANT CREATE ON DATABASE postern TO /,
  ],
  [
    "a user without CREATE, of a server that speaks German",
    ofServer("42501", "aclcheck_error", "keine Berechtigung für Datenbank postern"),
    /^The database's user may not do what is needed/,
    /GRANT CREATE ON DATABASE <database> TO /,
  ],
  [
    "a server that takes TLS alone",
    ofServer(
      "28000",
      "ClientAuthentication",
      "kein pg_hba.conf-Eintrag für Host »10.0.0.1«, Benutzer »postern«, keine Verschlüsselung",
    ),
    /does not let Postern in/,
    /sslmode=verify-full/,
  ],
  [
    "a user that there is not",
    ofServer("28000", "InitializeSessionUserId", "Rolle »postern« existiert nicht"),
    /does not let Postern in/,
    /^Check user, password/,
  ],
  [
    "a wrong password",
    fault("28P01", 'password authentication failed for user "postern"'),
    /does not let Postern in/,
    /^Check user, password/,
  ],
  [
    "a server that has no connection left",
    fault("53300", "sorry, too many clients already"),
    /has no connection left: sorry, too many clients already/,
    /^Raise max_connections there/,
  ],
  [
    "a role that has no connection left",
    fault("53300", 'too many connections for role "postern"'),
    /has no connection left: too many connections for role "postern"/,
    /^Raise that CONNECTION LIMIT/,
  ],
  [
    "a database that has no connection left",
    fault("53300", 'too many connections for database "postern"'),
    /has no connection left: too many connections for database "postern"/,
    /^Raise that CONNECTION LIMIT/,
  ],
  [
    "an object store that is away",
    new StoreUnavailableError("the object store cannot list its objects"),
    /Stored artifacts can't be reached/,
    /postern storage doctor/,
  ],
  [
    "a database that takes no writes",
    fault("25006", "cannot execute CREATE SCHEMA in a read-only transaction"),
    /is read-only: cannot execute CREATE SCHEMA/,
    /^Name the primary in DATABASE_URL or SHARDS, or set default_transaction_read_only off/,
  ],
  [
    "a database that is starting, or recovering from a crash",
    fault("57P03", "the database system is in recovery mode"),
    /takes no connections now: the database system is in recovery mode/,
    /^If its server starts or recovers, wait for it\. .* whether its disk is full/,
  ],
  [
    "a database whose shared memory is full",
    ofServer(
      "53100",
      "dsm_impl_posix",
      'could not resize shared memory segment "/PostgreSQL.7" to 1048576 bytes',
    ),
    /'s shared memory is full: could not resize/,
    /^Enlarge \/dev\/shm where its server runs/,
  ],
  [
    "a database whose disk is full",
    fault("53100", 'could not extend file "base/5/1259": No space left on device'),
    /'s disk is full: could not extend file/,
    /^Free space there/,
  ],
  [
    "a full disk of this machine",
    fault("ENOSPC", "ENOSPC: no space left on device, write", "write"),
    /^A disk is full: ENOSPC/,
    /^Free space on that disk/,
  ],
  [
    "a file of another user",
    fault("EACCES", "EACCES: permission denied, open 'x'", "open"),
    /^A file or folder cannot be opened or written: EACCES: permission denied, open 'x'\.$/,
    /^Let the user that runs Postern do so there, .* set DATA_DIR to another folder\.$/,
  ],
  [
    "a database without room for locks",
    Object.assign(fault("53200", "out of shared memory"), { file: "lock.c" }),
    /has no room for more locks: out of shared memory/,
    /^Raise max_locks_per_transaction and restart PostgreSQL/,
  ],
  [
    "a database without memory",
    fault("53200", "out of memory"),
    /is out of memory: out of memory/,
    /^See its log, which may name a setting/,
  ],
  [
    "a database at one of its limits",
    fault("53400", "could not find free replication state"),
    /has reached a limit of its configuration: could not find/,
    /^See its log, raise the limit/,
  ],
  [
    "a database with a broken disk",
    fault("58030", 'could not fsync file "base/5/1259": Input/output error'),
    /can't read or write its files: could not fsync/,
    /^See its log, and its disk/,
  ],
  [
    "a transaction that is in the way",
    fault("55P03", "canceling statement due to lock timeout"),
    /gave up on a statement: canceling statement/,
    /^Another transaction was in the way/,
  ],
  [
    "a database that is not running",
    fault("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:5432", "connect"),
    /The database can't be used/,
    /that PostgreSQL runs there/,
  ],
];

describe("describeMistake", () => {
  for (const [name, error, wrong, remedy] of CASES) {
    it(`says what to do about ${name}`, () => {
      const lines = describeMistake(error)?.split("\n") ?? [];
      assert.equal(lines.length, 2);
      assert.match(lines[0] ?? "", wrong);
      assert.match(lines[1] ?? "", remedy);
    });
  }

  it("has a case here for each row of its table", () => {
    const met = new Set(CASES.map(([, error]) => MISTAKES.findIndex(({ is }) => is(faultOf(error)))));
    assert.deepEqual(met, new Set(MISTAKES.keys()));
  });

  it("looks at the causes of an error too", () => {
    const cause = fault("28P01", "password authentication failed");
    assert.match(describeMistake(new Error("the start failed", { cause })) ?? "", /Check user, password/);
  });

  it("says what is wrong of a cause that passes, and not only that the database can't be used", () => {
    for (const [code, told] of [
      ["53100", /disk is full/],
      ["53300", /no connection left/],
      ["25006", /is read-only/],
      ["55P03", /gave up on a statement/],
    ] as const) {
      const cause = fault(code, "no");
      const failed = new Error("Migration 0001_webhooks.sql failed: no", { cause });
      assert.match(describeMistake(failed) ?? "", told, code);
    }
    const lost = new Error("the start failed", { cause: fault("08006", "the connection is lost") });
    assert.match(describeMistake(lost) ?? "", /can't be used: the start failed\.\nCheck its URL/);
  });

  it("says the same of each code of a kind", () => {
    const kinds = [
      [
        /is not trusted: no\.\n.*sslrootcert/,
        "SELF_SIGNED_CERT_IN_CHAIN",
        "DEPTH_ZERO_SELF_SIGNED_CERT",
        "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
        "UNABLE_TO_GET_ISSUER_CERT",
        "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      ],
      [/is not valid now: no\.\nRenew/, "CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"],
      [/does not let Postern in: no\.\nCheck user, password and database name/, "28000", "28P01", "3D000"],
    ] as const;
    for (const [told, ...codes] of kinds) {
      for (const code of codes) assert.match(describeMistake(fault(code, "no")) ?? "", told, code);
    }
  });

  it("names the database in which a right is missing, and leaves its name out where PostgreSQL does not say it", () => {
    for (const [message, named] of [
      ["permission denied for database my-db.2", "DATABASE my-db.2 TO <user>"],
      ["permission denied for schema public", "DATABASE <database> TO <user>"],
    ] as const) {
      assert.ok(describeMistake(fault("42501", message))?.includes(`GRANT CREATE ON ${named};`), message);
    }
  });

  it("leaves a fault of the program to be printed whole", () => {
    assert.equal(describeMistake(new TypeError("x is not a function")), null);
    // Of a process, and neither a file's nor a port's.
    assert.equal(describeMistake(fault("EPERM", "kill EPERM", "kill")), null);
    assert.equal(describeMistake(fault("EADDRINUSE", "bind EADDRINUSE", "")), null);
  });
});
