import "../support/on-oldest.ts";
import "../shard-handovers.test.ts";
