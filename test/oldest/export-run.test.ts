import "../support/on-oldest.ts";
import "../../src/storage/exports/export-run.test.ts";
