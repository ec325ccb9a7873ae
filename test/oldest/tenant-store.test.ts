import "../support/on-oldest.ts";
import "../../src/tenants/tenant-store.test.ts";
