/** Kinds of stored files. */
export const KINDS = ["export", "request_body", "response_body"] as const;

/** Of the deliveries of an export. */
export const EXPORT_STATUSES = ["delivered", "failed", "test"] as const;
