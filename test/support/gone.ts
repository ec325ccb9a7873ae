import { hasCode } from "../../src/shared/error-code.ts";

/** Of an error about a file that another process may remove at any time: nothing. */
export function ignoreGone(error: unknown): undefined {
  if (!hasCode(error, "ENOENT")) throw error;
}
