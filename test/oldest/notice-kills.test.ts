import "../support/on-oldest.ts";
import "../notice-kills.test.ts";
