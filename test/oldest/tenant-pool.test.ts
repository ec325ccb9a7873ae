import "../support/on-oldest.ts";
import "../../src/database/tenant-pool.test.ts";
