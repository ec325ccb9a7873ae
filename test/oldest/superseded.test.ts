import "../support/on-oldest.ts";
import "../superseded.test.ts";
