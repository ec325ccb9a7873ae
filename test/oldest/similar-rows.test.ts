import "../support/on-oldest.ts";
import "../../src/storage/rows/similar-rows.test.ts";
