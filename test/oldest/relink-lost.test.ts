import "../support/on-oldest.ts";
import "../../src/storage/upkeep/relink-lost.test.ts";
