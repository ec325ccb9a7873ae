import "../support/on-oldest.ts";
import "../../src/database/schema/apply-migration.test.ts";
