/** `warn` lets the service run, `fail` does not, `info` lacks nothing that it needs; what is not `ok` comes with what to do. */
export type Finding =
  | { check: string; status: "ok"; detail: string }
  | { check: string; status: "info" | "warn" | "fail"; detail: string; fix: string };
