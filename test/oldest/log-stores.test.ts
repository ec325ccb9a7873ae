import "../support/on-oldest.ts";
import "../../src/deliveries/log-stores.test.ts";
