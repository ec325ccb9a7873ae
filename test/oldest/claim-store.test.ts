import "../support/on-oldest.ts";
import "../../src/queue/postgres/claim-store.test.ts";
