import "../support/on-oldest.ts";
import "../shard-placing.test.ts";
