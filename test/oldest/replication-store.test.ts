import "../support/on-oldest.ts";
import "../../src/database/replication/replication-store.test.ts";
