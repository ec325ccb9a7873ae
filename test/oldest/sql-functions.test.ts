import "../support/on-oldest.ts";
import "../sql-functions.test.ts";
