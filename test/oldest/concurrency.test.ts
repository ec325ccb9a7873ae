import "../support/on-oldest.ts";
import "../concurrency.test.ts";
