import "../support/on-oldest.ts";
import "../../src/storage/upkeep/ownership.test.ts";
