import "../support/on-oldest.ts";
import "../../src/database/roles.test.ts";
