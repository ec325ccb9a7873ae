import "../support/on-oldest.ts";
import "../../src/deliveries/event-log.test.ts";
