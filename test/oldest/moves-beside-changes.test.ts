import "../support/on-oldest.ts";
import "../moves-beside-changes.test.ts";
