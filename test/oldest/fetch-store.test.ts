import "../support/on-oldest.ts";
import "../../src/queue/postgres/fetch-store.test.ts";
