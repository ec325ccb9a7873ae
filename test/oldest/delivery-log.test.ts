import "../support/on-oldest.ts";
import "../delivery-log.test.ts";
