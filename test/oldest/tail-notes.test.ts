import "../support/on-oldest.ts";
import "../../src/deliveries/tail-notes.test.ts";
