import "../support/on-oldest.ts";
import "../leases.test.ts";
