/** The codes that the delivery log keeps for an attempt without an answer, and undici's and Node's errors as such. */
import { codeOf } from "../shared/error-code.ts";
import { DialError } from "./connect.ts";

export type NetworkErrorCode =
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  | "reset"
  | "blocked_target"
  | "response_too_large"
  | "invalid_response";

const BY_CODE: ReadonlyMap<string, NetworkErrorCode> = new Map([
  ["ETIMEDOUT", "timeout"],
  ["EPROTO", "tls"],
  ["UND_ERR_HEADERS_TIMEOUT", "timeout"],
  ["UND_ERR_BODY_TIMEOUT", "timeout"],
  ["UND_ERR_HEADERS_OVERFLOW", "response_too_large"],
  // An answer that undici's own parser did not think possible.
  ["ERR_ASSERTION", "invalid_response"],
]);

// A request that undici refuses to write. Everything else with a code comes from the network.
const OUR_FAULT: ReadonlySet<string> = new Set([
  "",
  "UND_ERR_INVALID_ARG",
  "UND_ERR_NOT_SUPPORTED",
  "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH",
]);

/**
 * Undefined for an error that no receiver can cause: a fault of this program.
 * `headReceived`: whether the final answer's header block had been read.
 */
export function networkErrorCode(error: Error, headReceived: boolean): NetworkErrorCode | undefined {
  if (error instanceof DialError) return error.reason;
  if (error.name === "HTTPParserError") {
    return error.message.includes("Invalid EOF state") ? "reset" : "invalid_response";
  }
  const code = codeOf(error);
  if (OUR_FAULT.has(code)) return undefined;
  const known = BY_CODE.get(code);
  if (known !== undefined) return known;
  // Within a body: the connection ended early. Before, undici hides a bad header block behind the same error.
  if (code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") return headReceived ? "reset" : "invalid_response";
  // undici gives one code to a closed connection and to an answer it cannot take; only the text differs.
  if (code === "UND_ERR_SOCKET" && error.message.startsWith("bad ")) return "invalid_response";
  return code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_") ? "tls" : "reset";
}
