import "../support/on-oldest.ts";
import "../../src/tenants/erasure-parts.test.ts";
