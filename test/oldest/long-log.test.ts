import "../support/on-oldest.ts";
import "../long-log.test.ts";
