import "../support/on-oldest.ts";
import "../../src/storage/rows/order-of-rows.test.ts";
