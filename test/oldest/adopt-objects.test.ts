import "../support/on-oldest.ts";
import "../../src/storage/upkeep/adopt-objects.test.ts";
