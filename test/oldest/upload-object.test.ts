import "../support/on-oldest.ts";
import "../../src/storage/library/upload-object.test.ts";
