import "../support/on-oldest.ts";
import "../../src/database/apply-migration.test.ts";
