/** What an object store's refusal means. Not to know is never the same as "not there". */
import { StoreUnavailableError } from "./bucket.ts";

export type StoreRefusal = { name: string; status: number | undefined };

/** The store's own words for a failed request; an unnamed one never reached it. */
export function refusalOf(error: unknown): StoreRefusal {
  if (!(error instanceof Error)) return { name: "", status: undefined };
  const metadata = "$metadata" in error ? error.$metadata : undefined;
  const isAnswer = typeof metadata === "object" && metadata !== null && "httpStatusCode" in metadata;
  const status =
    isAnswer && typeof metadata.httpStatusCode === "number" ? metadata.httpStatusCode : undefined;
  return { name: error.name, status };
}

/** A store that does not know a feature says so in one of several ways. */
export function isUnsupported({ name, status }: StoreRefusal): boolean {
  return status === 501 || status === 405 || name === "NotImplemented" || name === "MethodNotAllowed";
}

/** @param what completes "cannot …", and names what the credential must be allowed to do. */
export function unavailable(what: string, error: unknown): StoreUnavailableError {
  const { name, status } = refusalOf(error);
  const reason = error instanceof Error && error.message !== "" ? error.message : "no reason given";
  const detail = status === undefined ? reason : `${status} ${name}: ${reason}`;
  return new StoreUnavailableError(`the object store cannot ${what}: ${detail}`, { cause: error });
}
