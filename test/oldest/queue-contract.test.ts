import "../support/on-oldest.ts";
import "../queue-contract.test.ts";
