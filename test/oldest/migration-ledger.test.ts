import "../support/on-oldest.ts";
import "../../src/database/migration-ledger.test.ts";
