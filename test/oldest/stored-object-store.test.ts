import "../support/on-oldest.ts";
import "../../src/storage/rows/stored-object-store.test.ts";
