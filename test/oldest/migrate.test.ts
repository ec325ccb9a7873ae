import "../support/on-oldest.ts";
import "../../src/database/migrate.test.ts";
