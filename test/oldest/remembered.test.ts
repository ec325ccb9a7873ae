import "../support/on-oldest.ts";
import "../../src/storage/upkeep/remembered.test.ts";
