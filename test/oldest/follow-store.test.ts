import "../support/on-oldest.ts";
import "../../src/queue/postgres/follow-store.test.ts";
