import "../support/on-oldest.ts";
import "../../src/storage/upkeep/destruction.test.ts";
