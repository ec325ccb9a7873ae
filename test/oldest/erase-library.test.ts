import "../support/on-oldest.ts";
import "../../src/storage/library/erase.test.ts";
