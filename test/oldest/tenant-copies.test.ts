import "../support/on-oldest.ts";
import "../tenant-copies.test.ts";
