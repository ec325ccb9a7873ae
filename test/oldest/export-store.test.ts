import "../support/on-oldest.ts";
import "../../src/storage/exports/export-store.test.ts";
