import "../support/on-oldest.ts";
import "../events.test.ts";
