import "../support/on-oldest.ts";
import "../log-reads.test.ts";
