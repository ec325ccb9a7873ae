import "../support/on-oldest.ts";
import "../../src/queue/postgres/complete-store.test.ts";
