import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ConnectionRefusedError, NoHostError } from "./hosts/host-errors.ts";
import {
  isConnectionLoss,
  isConnectionSpent,
  isContention,
  isLockConflict,
  isLockTimeout,
  isAway,
  isOfTheServer,
  isRefusedLogin,
  isPassing,
} from "./passing-errors.ts";

const JUDGES = {
  lost: isConnectionLoss,
  spent: isConnectionSpent,
  passing: isPassing,
  "lock timeout": isLockTimeout,
  contention: isContention,
  "lock conflict": isLockConflict,
  "of the server": isOfTheServer,
  away: isAway,
  "refused login": isRefusedLogin,
};
type Judge = keyof typeof JUDGES;

const LOST: Judge[] = ["lost", "spent", "passing", "away"];
const LOGIN: Judge[] = ["passing", "of the server", "refused login"];
const BY_CODE: [codes: string, judges: Judge[]][] = [
  ["ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN", LOST],
  ["57P01 57P02 57P03 57P05 25P03 25P04 POSTERN_NO_HOST POSTERN_CONNECTION_REFUSED", LOST],
  ["08000 08001 08003 08004 08006 08P01", LOST],
  ["53300", ["lost", "spent", "passing", "of the server", "away"]],
  ["57014", ["passing", "contention", "away"]],
  ["55P03", ["passing", "lock timeout", "contention", "lock conflict", "away"]],
  ["40P01", ["passing", "contention", "lock conflict", "away"]],
  ["40001", ["passing", "contention", "away"]],
  ["25006", ["spent", "passing", "of the server", "away"]],
  ["53000 PS001", ["passing", "away"]],
  ["53100 53200 53400 58030", ["passing", "of the server", "away"]],
  ["28000 28P01 3D000", LOGIN],
  ["CERT_HAS_EXPIRED CERT_NOT_YET_VALID SELF_SIGNED_CERT_IN_CHAIN ERR_TLS_CERT_ALTNAME_INVALID", LOGIN],
  // Of the call itself: a unique key, a missing table, no code; and what only looks like a lost connection.
  ["23505 42P01 22008 0800 080061 A08006", []],
];

function withCode(code: string): Error {
  return Object.assign(new Error("of the database"), { code });
}

function judgesOf(error: unknown): string[] {
  return Object.entries(JUDGES)
    .filter(([, judge]) => judge(error))
    .map(([name]) => name);
}

describe("the errors of the database that pass by themselves", () => {
  for (const [codes, judges] of BY_CODE) {
    for (const code of codes.split(" ")) {
      it(`are known by the code ${code}: ${judges.join(", ") || "none of them"}`, () => {
        assert.deepEqual(judgesOf(withCode(code)), judges);
      });
    }
  }

  it("are known by the message where pg gives no code", () => {
    const messages = [
      "Connection terminated unexpectedly",
      "Query read timeout",
      "timeout exceeded when trying to connect",
      "timeout expired",
      "Client has encountered a connection error and is not queryable",
      "Client was closed and is not queryable",
    ];
    for (const message of messages) assert.deepEqual(judgesOf(new Error(message)), LOST, message);
    const refused = [
      "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string",
      "The server does not support SSL connections",
    ];
    for (const message of refused) assert.deepEqual(judgesOf(new Error(message)), LOGIN, message);
    for (const message of ["", "x Connection terminated", "a timeout expired", "no such table"]) {
      assert.deepEqual(judgesOf(new Error(message)), [], message);
    }
  });

  it("are ours where no host takes writes, or a connection must not be used", () => {
    assert.deepEqual(judgesOf(new NoHostError("none")), LOST);
    assert.deepEqual(judgesOf(new ConnectionRefusedError("not this one")), LOST);
    assert.deepEqual(
      [new NoHostError("a").name, new ConnectionRefusedError("b").name],
      ["NoHostError", "ConnectionRefusedError"],
    );
  });

  it("are found through causes, and among several", () => {
    const caused = new Error("outer", { cause: new Error("middle", { cause: withCode("55P03") }) });
    assert.deepEqual(judgesOf(caused), ["passing", "lock timeout", "contention", "lock conflict", "away"]);
    assert.deepEqual(judgesOf(new Error("outer", { cause: withCode("25006") })), [
      "spent",
      "passing",
      "of the server",
      "away",
    ]);
    const several = new AggregateError([
      withCode("23505"),
      new Error("x", { cause: withCode("ECONNREFUSED") }),
    ]);
    assert.deepEqual(judgesOf(several), LOST);
    assert.deepEqual(judgesOf(new AggregateError([withCode("23505")])), []);
    assert.deepEqual(judgesOf(new AggregateError([], "none", { cause: withCode("53000") })), [
      "passing",
      "away",
    ]);
  });

  it("are no other things that are thrown", () => {
    for (const thrown of [undefined, null, "08006", { code: "08006" }, new Error("x", { cause: "08006" })]) {
      assert.deepEqual(judgesOf(thrown), []);
    }
  });
});
