import "../support/on-oldest.ts";
import "../../src/deliveries/tail.test.ts";
