import "../support/on-oldest.ts";
import "../../src/demo/week-store.test.ts";
