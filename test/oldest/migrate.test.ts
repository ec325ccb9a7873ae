import "../support/on-oldest.ts";
import "../../src/database/schema/migrate.test.ts";
