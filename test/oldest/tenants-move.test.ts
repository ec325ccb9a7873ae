import "../support/on-oldest.ts";
import "../../src/cli/tenants/tenants-move.test.ts";
