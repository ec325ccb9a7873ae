import "../support/on-oldest.ts";
import "../../src/deliveries/send-by-person.test.ts";
