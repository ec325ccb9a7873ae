import "../support/on-oldest.ts";
import "../erased-beside-changes.test.ts";
