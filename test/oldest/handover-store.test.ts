import "../support/on-oldest.ts";
import "../../src/queue/postgres/handover-store.test.ts";
