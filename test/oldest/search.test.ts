import "../support/on-oldest.ts";
import "../../src/deliveries/search.test.ts";
