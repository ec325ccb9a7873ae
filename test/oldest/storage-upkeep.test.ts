import "../support/on-oldest.ts";
import "../../src/storage/upkeep/storage-upkeep.test.ts";
