import "../support/on-oldest.ts";
import "../../src/shards/reopen.test.ts";
