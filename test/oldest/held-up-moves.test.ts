import "../support/on-oldest.ts";
import "../held-up-moves.test.ts";
