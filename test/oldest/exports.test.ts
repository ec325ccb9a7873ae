import "../support/on-oldest.ts";
import "../../src/storage/exports/exports.test.ts";
