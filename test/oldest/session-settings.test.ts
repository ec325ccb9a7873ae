import "../support/on-oldest.ts";
import "../../src/database/session-settings.test.ts";
