import "../support/on-oldest.ts";
import "../../src/endpoints/endpoints.test.ts";
