import "../support/on-oldest.ts";
import "../../src/queue/postgres/once-store.test.ts";
