/** The codes that the delivery log keeps for an attempt without an answer, and undici's and Node's errors as such. */
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
  ["ECONNRESET", "reset"],
  ["ECONNABORTED", "reset"],
  ["EPIPE", "reset"],
  ["ETIMEDOUT", "timeout"],
  ["EHOSTUNREACH", "reset"],
  ["ENETUNREACH", "reset"],
  ["ENETDOWN", "reset"],
  ["UND_ERR_HEADERS_TIMEOUT", "timeout"],
  ["UND_ERR_BODY_TIMEOUT", "timeout"],
  ["UND_ERR_HEADERS_OVERFLOW", "response_too_large"],
  ["UND_ERR_DESTROYED", "reset"],
]);

/**
 * Undefined for an error that no receiver can cause: a fault of this program.
 * `headReceived`: whether the final answer's header block had been read.
 */
export function networkErrorCode(error: Error, headReceived: boolean): NetworkErrorCode | undefined {
  if (error instanceof DialError) return error.reason;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const known = BY_CODE.get(code);
  if (known !== undefined) return known;
  // Within a body: the connection ended early. Before, undici hides a bad header block behind the same error.
  if (code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") return headReceived ? "reset" : "invalid_response";
  if (code === "UND_ERR_SOCKET") {
    // undici gives one code to a closed connection and to an answer it cannot take; only the text differs.
    return error.message.startsWith("bad ") ? "invalid_response" : "reset";
  }
  if (error.name === "HTTPParserError") {
    return error.message.includes("Invalid EOF state") ? "reset" : "invalid_response";
  }
  return code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_") ? "tls" : undefined;
}
