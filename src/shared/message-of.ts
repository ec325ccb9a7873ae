/** What an error says, without a point at its end. A host with several addresses fails with all their errors at once, and no message of its own. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const parts = error instanceof AggregateError ? error.errors.map(messageOf) : [];
  return error.message === "" ? parts.join("; ") : error.message.replace(/\.$/, "");
}

/** `fetch` says only that it failed; why is in its cause. */
export function reasonOf(error: unknown): string {
  return messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
}
