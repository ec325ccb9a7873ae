import "../support/on-oldest.ts";
import "../tenancy-hostile-sql.test.ts";
