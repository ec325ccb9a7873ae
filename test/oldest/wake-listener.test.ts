import "../support/on-oldest.ts";
import "../../src/queue/postgres/wake-listener.test.ts";
