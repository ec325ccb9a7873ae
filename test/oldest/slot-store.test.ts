import "../support/on-oldest.ts";
import "../../src/queue/postgres/slot-store.test.ts";
