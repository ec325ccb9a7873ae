import "../support/on-oldest.ts";
import "../dispatching.test.ts";
