import "../support/on-oldest.ts";
import "../given-up-archives.test.ts";
