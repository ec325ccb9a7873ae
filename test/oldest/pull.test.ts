import "../support/on-oldest.ts";
import "../pull.test.ts";
