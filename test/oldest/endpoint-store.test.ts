import "../support/on-oldest.ts";
import "../../src/endpoints/endpoint-store.test.ts";
