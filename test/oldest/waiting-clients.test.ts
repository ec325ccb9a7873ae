import "../support/on-oldest.ts";
import "../../src/pull/waiting-clients.test.ts";
