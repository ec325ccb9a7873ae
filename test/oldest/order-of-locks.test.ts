import "../support/on-oldest.ts";
import "../../src/queue/postgres/order-of-locks.test.ts";
