import "../support/on-oldest.ts";
import "../../src/queue/postgres/retention.test.ts";
