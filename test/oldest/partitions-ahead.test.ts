import "../support/on-oldest.ts";
import "../../src/queue/postgres/partitions.test.ts";
