import "../support/on-oldest.ts";
import "../../src/endpoints/endpoint-neighbours.test.ts";
