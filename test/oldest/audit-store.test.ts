import "../support/on-oldest.ts";
import "../../src/audit/audit-store.test.ts";
