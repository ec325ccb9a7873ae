import "../support/on-oldest.ts";
import "../../src/queue/postgres/presence-store.test.ts";
