import "../support/on-oldest.ts";
import "../../src/storage/exports/export-log-store.test.ts";
