import "../support/on-oldest.ts";
import "../tenant-moves.test.ts";
