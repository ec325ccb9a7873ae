import "../support/on-oldest.ts";
import "../../src/shards/move.test.ts";
