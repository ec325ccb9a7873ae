/** `warn` lets the service run, `fail` does not; what is not `ok` comes with what to do. */
export type Finding =
  | { check: string; status: "ok"; detail: string }
  | { check: string; status: "warn" | "fail"; detail: string; fix: string };
