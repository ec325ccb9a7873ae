import "../support/on-oldest.ts";
import "../endpoint-stats.test.ts";
