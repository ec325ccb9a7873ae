import "../support/on-oldest.ts";
import "../../src/database/schema/migration-ledger.test.ts";
