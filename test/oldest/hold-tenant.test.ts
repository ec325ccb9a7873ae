import "../support/on-oldest.ts";
import "../../src/shards/hold-tenant.test.ts";
