import "../support/on-oldest.ts";
import "../../src/queue/postgres/claim-turns-store.test.ts";
