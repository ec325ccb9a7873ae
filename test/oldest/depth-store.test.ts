import "../support/on-oldest.ts";
import "../../src/queue/postgres/depth-store.test.ts";
