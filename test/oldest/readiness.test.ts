import "../support/on-oldest.ts";
import "../../src/api/readiness.test.ts";
