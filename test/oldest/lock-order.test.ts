import "../support/on-oldest.ts";
import "../lock-order.test.ts";
