import "../support/on-oldest.ts";
import "../../src/shards/copy-store.test.ts";
