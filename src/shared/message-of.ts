/** What an error says, without a point at its end. A host with several addresses fails with all their errors at once, and no message of its own. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const parts = error instanceof AggregateError ? error.errors.map(messageOf) : [];
  return error.message === "" ? parts.join("; ") : error.message.replace(/\.$/, "");
}

/** `fetch` says only that it failed; why is in its cause. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return tlsReason(cause) ?? messageOf(cause);
}

/** OpenSSL's message is a line of its source and more; what happened is apart. */
function tlsReason(error: unknown): string | null {
  if (!(error instanceof Error && "library" in error && "reason" in error)) return null;
  const isPlain = error.reason === "wrong version number";
  return `TLS: ${String(error.reason)}${isPlain ? " (does it speak plain http?)" : ""}`;
}
