import "../support/on-oldest.ts";
import "../../src/cli/tenants-move.test.ts";
