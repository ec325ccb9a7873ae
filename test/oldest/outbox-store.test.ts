import "../support/on-oldest.ts";
import "../../src/events/outbox-store.test.ts";
