import "../support/on-oldest.ts";
import "../../src/queue/postgres/accept-store.test.ts";
