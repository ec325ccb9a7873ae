/** `warn` lets the service run, `fail` does not, `info` lacks nothing that it needs; what is not `ok` comes with what to do. */
export type Finding =
  | { check: string; status: "ok"; detail: string }
  | { check: string; status: "info" | "warn" | "fail"; detail: string; fix: string };

/** `1 replica`, and of any other number `replicas`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** Of a fault in words: the first line says what is wrong, the others what to do, or else `otherwise` does. */
export function findingOf(
  check: string,
  status: "info" | "fail",
  { words, otherwise = "" }: { words: string; otherwise?: string },
): Finding {
  const [detail = "", ...remedy] = words.split("\n");
  return { check, status, detail, fix: remedy.join(" ") || otherwise };
}
