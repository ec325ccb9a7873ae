/** Kinds of stored files. */
export const KINDS = ["export", "request_body", "response_body"] as const;
