import "../support/on-oldest.ts";
import "../publish-from-sql.test.ts";
