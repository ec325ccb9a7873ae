import "../support/on-oldest.ts";
import "../../src/storage/library/library.test.ts";
