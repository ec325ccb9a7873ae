import "../support/on-oldest.ts";
import "../../src/queue/postgres/postgres-queue.test.ts";
