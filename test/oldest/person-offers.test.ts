import "../support/on-oldest.ts";
import "../../src/deliveries/person-offers.test.ts";
