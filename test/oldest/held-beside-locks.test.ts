import "../support/on-oldest.ts";
import "../../src/worker/held-beside-locks.test.ts";
