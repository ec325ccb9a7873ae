import "../support/on-oldest.ts";
import "../../src/storage/exports/export-worker.test.ts";
