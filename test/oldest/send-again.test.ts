import "../support/on-oldest.ts";
import "../../src/deliveries/send-again.test.ts";
