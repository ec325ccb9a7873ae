import "../support/on-oldest.ts";
import "../intake.test.ts";
