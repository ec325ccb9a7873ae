import "../support/on-oldest.ts";
import "../../src/queue/postgres/follow-held.test.ts";
