import assert from "node:assert/strict";
import { it } from "node:test";
import { noteAtOpening } from "../database/passing-errors.ts";
import { outageReason } from "./outage-reason.ts";

const failure = (code: string): Error => Object.assign(new Error("of the database"), { code });

it("a lock that is not given is told with who has it, and how to end that", () => {
  const locked = failure("55P03");
  assert.match(
    outageReason(locked) ?? "",
    /^another transaction has locked a table of Postern: see pg_locks/,
  );
  const holders = [
    { table: "events", pid: 7, name: "psql" },
    { table: "dispatches", pid: 8, name: "a migration" },
  ];
  assert.equal(
    outageReason(locked, holders),
    "process 7 (psql) has postern.events locked, process 8 (a migration) has postern.dispatches locked: " +
      "end its transaction, as by SELECT pg_terminate_backend(7)",
  );
});

it("a state of the database is told with what to do, and a fault of Postern's own is none", () => {
  for (const [code, reason] of [
    ["53100", /disk is full/],
    ["25006", /read-only/],
    ["53300", /max_connections/],
    ["POSTERN_NO_HOST", /^no host of DATABASE_URL accepts writes: .*promote a standby$/],
    ["53200", /out of memory/],
    ["53400", /^the database has reached a limit of its configuration: see its log$/],
    ["58030", /can't read or write its files/],
    ["40001", /^the database refuses to commit: see its log$/],
    ["57014", /take too long/],
    ["57P03", /^the database takes no connections now, .* whether its disk is full$/],
    ["28P01", /^the database does not let this process in: /],
    ["CERT_HAS_EXPIRED", /^the database does not let this process in: /],
    ["ECONNREFUSED", /^the database cannot be reached$/],
    ["EMFILE", /^this process has too many files and connections open: raise its limit/],
    ["ENFILE", /^this machine has too many files and connections open: /],
  ] as const) {
    assert.match(outageReason(failure(code)) ?? "", reason, code);
  }
  for (const error of [failure("42P01"), failure("42501"), new TypeError("x")]) {
    assert.equal(outageReason(error), null);
  }
});

it("shared memory that is full is told as such, and not as a full disk, whose code it has", () => {
  const full = Object.assign(failure("53100"), { routine: "dsm_impl_posix" });
  assert.match(outageReason(full) ?? "", /^the database's shared memory is full: enlarge \/dev\/shm/);
});

it("a connection that is not opened is the database's fault or the login's, by its code", () => {
  for (const [code, reason] of [
    // PostgreSQL's "could not write init file", on a full disk.
    ["XX000", /^the database opens no connection because of a fault of its own: .* disk is full$/],
    ["58P01", /^the database opens no connection because of a fault of its own: /],
    ["42501", /^the database does not let this process in: /],
  ] as const) {
    const error = failure(code);
    noteAtOpening(error);
    assert.match(outageReason(error) ?? "", reason, code);
  }
  assert.equal(outageReason(failure("XX000")), null);
});
