import "../support/on-oldest.ts";
import "../tenancy-queries.test.ts";
