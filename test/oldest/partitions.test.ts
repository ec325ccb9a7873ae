import "../support/on-oldest.ts";
import "../partitions.test.ts";
