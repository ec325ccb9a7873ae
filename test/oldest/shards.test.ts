import "../support/on-oldest.ts";
import "../shards.test.ts";
