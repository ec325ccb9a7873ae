import "../support/on-oldest.ts";
import "../sql-functions-of-tenants.test.ts";
