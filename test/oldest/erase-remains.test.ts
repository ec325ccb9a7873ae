import "../support/on-oldest.ts";
import "../../src/storage/upkeep/erase-remains.test.ts";
