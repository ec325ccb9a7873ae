import "../support/on-oldest.ts";
import "../stored-behind-erasure.test.ts";
