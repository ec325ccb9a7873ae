import "../support/on-oldest.ts";
import "../../src/pull/fetches.test.ts";
