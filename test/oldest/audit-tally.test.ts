import "../support/on-oldest.ts";
import "../../src/audit/audit-tally.test.ts";
