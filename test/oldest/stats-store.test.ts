import "../support/on-oldest.ts";
import "../../src/deliveries/stats-store.test.ts";
