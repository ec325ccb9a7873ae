import "../support/on-oldest.ts";
import "../../src/shards/directory-store.test.ts";
