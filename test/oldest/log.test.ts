import "../support/on-oldest.ts";
import "../../src/deliveries/log.test.ts";
