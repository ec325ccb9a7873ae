import "../support/on-oldest.ts";
import "../../src/queue/postgres/dispatch-keys.test.ts";
