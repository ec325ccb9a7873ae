import "../support/on-oldest.ts";
import "../failure-slices.test.ts";
