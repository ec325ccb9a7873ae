import { equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { DialError } from "./connect.ts";
import { networkErrorCode, type NetworkErrorCode } from "./network-error.ts";

/** As Node and undici make them. */
const coded = (code: string, message = "it failed"): Error => Object.assign(new Error(message), { code });
const parserError = (message: string): Error =>
  Object.assign(new Error(message), { name: "HTTPParserError", code: "HPE_INVALID_EOF_STATE" });

const CASES: [string, Error, NetworkErrorCode | undefined][] = [
  ["a connection that was refused to be made", new DialError("blocked_target", "private"), "blocked_target"],
  ["an end within what the parser reads", parserError("Parse Error: Invalid EOF state"), "reset"],
  ["an answer that the parser does not take", parserError("Parse Error: Expected HTTP/"), "invalid_response"],
  ["a time limit of the system", coded("ETIMEDOUT"), "timeout"],
  ["a protocol error of TLS", coded("EPROTO"), "tls"],
  ["a limit for the header block", coded("UND_ERR_HEADERS_TIMEOUT"), "timeout"],
  ["a limit for the body", coded("UND_ERR_BODY_TIMEOUT"), "timeout"],
  ["a header block that is too large", coded("UND_ERR_HEADERS_OVERFLOW"), "response_too_large"],
  ["an answer that the parser did not expect", coded("ERR_ASSERTION"), "invalid_response"],
  ["an answer that the client cannot take", coded("UND_ERR_SOCKET", "bad upgrade"), "invalid_response"],
  ["a connection that was closed", coded("UND_ERR_SOCKET", "other side closed, bad luck"), "reset"],
  ["another error that begins so", coded("ECONNRESET", "bad connection"), "reset"],
  ["a fault of OpenSSL", coded("ERR_SSL_WRONG_VERSION_NUMBER"), "tls"],
  ["a fault of Node's TLS", coded("ERR_TLS_CERT_ALTNAME_INVALID"), "tls"],
  ["a code that ends as those of TLS begin", coded("X_ERR_SSL_"), "reset"],
  ["another code that ends so", coded("X_ERR_TLS_"), "reset"],
  ["an error without a code", new Error("a fault of ours"), undefined],
  ["an error with a number for a code", Object.assign(new Error("x"), { code: 7 }), undefined],
  ["an argument that undici refuses", coded("UND_ERR_INVALID_ARG"), undefined],
  ["a header that undici refuses", coded("UND_ERR_NOT_SUPPORTED"), undefined],
  ["a length that is not the body's", coded("UND_ERR_REQ_CONTENT_LENGTH_MISMATCH"), undefined],
];

describe("the code of an attempt without an answer, after", () => {
  for (const [name, error, code] of CASES) {
    it(name, () => equal(networkErrorCode(error, false), code));
  }

  it("a body that is shorter than announced, or a header block that announces two lengths", () => {
    const error = coded("UND_ERR_RES_CONTENT_LENGTH_MISMATCH");
    equal(networkErrorCode(error, true), "reset");
    equal(networkErrorCode(error, false), "invalid_response");
  });
});
