import "../support/on-oldest.ts";
import "../../src/queue/postgres/presence.test.ts";
