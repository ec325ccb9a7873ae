import "../support/on-oldest.ts";
import "../../src/portal/portal-session-store.test.ts";
