import "../support/on-oldest.ts";
import "../tenancy-tables.test.ts";
