import "../support/on-oldest.ts";
import "../pull-mode.test.ts";
