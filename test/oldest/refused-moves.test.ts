import "../support/on-oldest.ts";
import "../refused-moves.test.ts";
