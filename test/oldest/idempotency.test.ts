import "../support/on-oldest.ts";
import "../idempotency.test.ts";
