import "../support/on-oldest.ts";
import "../../src/deliveries/log-neighbours.test.ts";
