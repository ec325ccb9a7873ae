import "../support/on-oldest.ts";
import "../forgotten-keys.test.ts";
