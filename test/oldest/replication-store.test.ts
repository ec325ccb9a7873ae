import "../support/on-oldest.ts";
import "../../src/database/replication-store.test.ts";
