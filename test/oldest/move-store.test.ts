import "../support/on-oldest.ts";
import "../../src/shards/move-store.test.ts";
