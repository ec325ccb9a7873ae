/** The SQLSTATE, or Node's code, of an error; empty where it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Whether a thrown value carries one of these codes (`ENOENT`, …). */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(codeOf(error));
}
