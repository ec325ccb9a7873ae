import "../support/on-oldest.ts";
import "../moves-and-promotions.test.ts";
