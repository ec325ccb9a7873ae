import "../support/on-oldest.ts";
import "../../src/shards/join.test.ts";
