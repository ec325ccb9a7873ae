import "../support/on-oldest.ts";
import "../../src/database/session.test.ts";
